/* Draws the figures of the page: each when it comes near the screen, all of them before printing.
   Colours come from the style sheet, so that dark mode and print follow it. */
(() => {
  "use strict";
  const page = JSON.parse(document.getElementById("figures").textContent);
  const plots = Array.from(document.querySelectorAll(".plot"));
  const narrow = () => window.innerWidth < 721;
  const coarse = window.matchMedia("(pointer: coarse)").matches;
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const PRINT_WIDTH = 700;
  const config = {
    responsive: true, displaylogo: false, showTips: false,
    showSendToCloud: false, plotlyServerURL: "", // plotly.js 4 would offer to upload the data
    modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d", "pan2d"],
  };
  let printing = false;

  const token = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
  const printed = { ink: "#000000", muted: "#444b53", grid: "#e3e6e9", rule: "#c9ced4", paper: "#ffffff",
    before: "#0072b2", after: "#b84e00", "before-fill": "rgba(0,114,178,.16)", "after-fill": "rgba(213,94,0,.14)" };
  const colour = (name) => (printing ? printed[name] : token(name));

  const traces = (figure) => figure.data.map((trace) => Object.assign({}, trace, {
    line: Object.assign({}, trace.line, { color: colour(trace.meta) }),
    fillcolor: colour(trace.meta + "-fill"),
    hoverlabel: { bgcolor: colour("paper"), bordercolor: colour(trace.meta), font: { color: colour("ink") } },
  }));

  const axis = (shared, own) => Object.assign({}, shared, own, {
    title: Object.assign({}, shared.title, own && own.title, { font: { size: 12, color: colour("muted") } }),
    gridcolor: colour("grid"), linecolor: colour("rule"), tickcolor: colour("rule"), zerolinecolor: colour("rule"),
    tickfont: { size: 11, color: colour("muted") }, automargin: false,
  });

  const layout = (figure) => {
    const shared = page.layout, own = figure.layout;
    const made = Object.assign({}, shared, {
      font: { family: getComputedStyle(document.body).fontFamily, color: colour("ink") },
      xaxis: axis(shared.xaxis, own.xaxis),
      xaxis2: axis(shared.xaxis2, own.xaxis2),
      yaxis: axis(shared.yaxis, own.yaxis),
      shapes: shared.shapes.map((s) => Object.assign({}, s, { line: { width: 1, color: colour("muted") } })),
      annotations: shared.annotations.map((a, i) => Object.assign({}, a, {
        font: Object.assign({}, a.font, { color: colour(i ? "after" : "before") }),
      })),
      modebar: { bgcolor: "rgba(0,0,0,0)", color: colour("muted"), activecolor: colour("ink") },
      dragmode: coarse ? false : "zoom",
    });
    if (narrow() && !printing) {
      made.xaxis.nticks = 5;
      made.xaxis2.nticks = 2;
      made.margin = Object.assign({}, shared.margin, { l: 60, r: 6, t: 46 });
    }
    if (printing) { made.width = PRINT_WIDTH; made.autosize = false; } else { made.autosize = true; }
    return made;
  };

  const draw = (plot) => {
    const figure = page.figures[plot.id];
    Plotly.react(plot, traces(figure), layout(figure), config);
    plot.dataset.drawn = "1";
  };
  const redraw = () => plots.filter((plot) => plot.dataset.drawn).forEach(draw);

  if ("IntersectionObserver" in window) {
    const seen = new IntersectionObserver((entries) => entries.forEach((entry) => {
      if (entry.isIntersecting) { seen.unobserve(entry.target); draw(entry.target); }
    }), { rootMargin: "600px" });
    plots.forEach((plot) => seen.observe(plot));
  } else {
    plots.forEach(draw);
  }
  dark.addEventListener("change", redraw);

  const folded = new Set();
  window.addEventListener("beforeprint", () => {
    printing = true;
    document.querySelectorAll("details:not([open])").forEach((d) => { folded.add(d); d.open = true; });
    plots.forEach(draw);
  });
  window.addEventListener("afterprint", () => {
    printing = false;
    folded.forEach((d) => { d.open = false; });
    folded.clear();
    redraw();
  });
})();
