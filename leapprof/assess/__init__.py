"""Composes store, analysis, nodeos and endurance into a Comparison or a forecast. No rendering, no network."""
