# The agent for hosts without Python 3: POSIX sh, cat, sleep, date; run from memory, nothing is written.
# It takes the same plan (plan.py) and sends plain frames (frame.py, kind p). What it leaves out is in
# the section "agent". It is run by dash and busybox sh in tests. Comments are cut before it is sent.
LC_ALL=C; export LC_ALL
PATH=$PATH:/usr/sbin:/usr/bin:/sbin:/bin
umask 077
set -f
tab=$(printf '\t.'); tab=${tab%.}
nl='
'
mark=$(printf '\001')
left_out=http,config,commands,threads,compression,queue,spool,stretch,exe_match,log,connect
exec 3<&0 </dev/null
read -r run </proc/sys/kernel/random/uuid
run=${run%%-*}
between_file=/proc/sys/kernel/random/boot_id
read -r between <$between_file
seq=0
reader=
done_with() { [ -z "$reader" ] || kill "$reader" 2>/dev/null; }
trap done_with EXIT
trap 'exit 0' TERM PIPE INT
fail() { printf 'leapprof agent: %s\n' "$1" >&2; exit 2; }
number() { case $1 in ''|*[!0-9]*) fail "not a number: $1";; esac; }
part=
sleep 0.01 2>/dev/null && part=1

# uptime in hundredths of a second: the host's clock since boot, without a process
now() { read -r up rest <"$root/proc/uptime"; cs=${up%.*}${up#*.}; cs=${cs#0}; cs=${cs#0}; cs=${cs:-0}; }

# wall clock minus uptime, in nanoseconds; seen again every 60 frames since it costs a process
clock() {
  wall=$(date +%s%N 2>/dev/null)
  case $wall in *[!0-9]*|'') wall=$(date +%s);; esac
  [ ${#wall} -ge 19 ] || wall=${wall}000000000
  now
  offset=$((wall - cs * 10000000))
}

add() { body="$body$1$tab$2$tab${#3}$nl$3$nl"; }

# the lines of $text that begin with one of the prefixes, which are tab-separated
keep_lines() {
  kept=
  IFS=$nl
  for line in $text; do
    IFS=$tab
    for prefix in $1; do
      case $line in "$prefix"*) kept=$kept$line$nl; break;; esac
    done
  done
  unset IFS
  text=$kept
}

# one file by itself: section name, path, prefixes
read_alone() {
  status=ok
  text=
  if [ ! -e "$2" ]; then
    folder=${2%/*}
    status=absent
    [ ! -d "$folder" ] || [ -x "$folder" ] || status=denied
  elif [ ! -r "$2" ]; then status=denied
  elif text=$(cat "$2" 2>/dev/null); then
    [ -z "$text" ] || text=$text$nl
    if [ ${#text} -gt "$read_bytes" ]; then status=cut; text=; fi
    [ -z "$3" ] || keep_lines "$3"
  elif [ -e "$2" ]; then status=failed; text='cat failed'
  else status=absent
  fi
  add "$1" "$status" "$text"
}

# a file to read together with the others of this tick: a process for each would cost 1 ms each
read_one() {
  case $2 in
    */kernel/random/boot_id) read_alone "$1" "$2" "$3";;  # it is what stands between the others
    *) wanted=$wanted$1$tab$2$tab$3$nl;;
  esac
}

# the lines of one file are there: add its section, and take the next
next_wanted() {
  if [ -z "$seen_any" ]; then read_alone "$w_name" "$w_path" "$w_keep"
  elif [ ${#text} -gt "$read_bytes" ]; then add "$w_name" cut ''
  else add "$w_name" ok "$text"
  fi
  wanted=${wanted#*"$nl"}
  first_wanted
}

first_wanted() {
  item=${wanted%%"$nl"*}
  w_name=${item%%"$tab"*}
  item=${item#*"$tab"}
  w_path=${item%%"$tab"*}
  w_keep=${item#*"$tab"}
  text=; seen_any=
}

# reads all wanted files with one cat; the kernel's boot id stands between them
read_wanted() {
  set --
  IFS=$nl
  for item in $wanted; do
    item=${item#*"$tab"}
    set -- "$@" "${item%%"$tab"*}" "$between_file"
  done
  [ $# -gt 0 ] || { unset IFS; return 0; }
  first_wanted
  for line in $(cat "$@" 2>/dev/null); do
    case $line in
      *"$between")
        line=${line%"$between"}
        [ -z "$line" ] || { seen_any=1; take_wanted; }
        unset IFS
        next_wanted
        IFS=$nl;;
      *) seen_any=1; take_wanted;;
    esac
  done
  unset IFS
}

take_wanted() {
  if [ -n "$w_keep" ]; then
    IFS=$tab
    for prefix in $w_keep; do
      case $line in "$prefix"*) text=$text$line$nl; return 0;; esac
    done
  else text=$text$line$nl
  fi
}

read_link() {
  if [ ! -L "$2" ]; then add "$1" absent ''
  elif text=$(readlink "$2" 2>/dev/null); then add "$1" ok "$text"
  else add "$1" denied ''
  fi
}

read_list() {
  if [ ! -d "$2" ]; then add "$1" absent ''
  elif text=$(ls "$2" 2>/dev/null); then add "$1" ok "${text:+$text$nl}"
  else add "$1" denied ''
  fi
}

read_vfs() {
  form="f_bsize %s${nl}f_frsize %S${nl}f_blocks %b${nl}f_bfree %f${nl}f_bavail %a"
  if [ ! -e "$2" ]; then add "$1" absent ''
  elif text=$(stat -f -c "$form" "$2" 2>/dev/null); then add "$1" ok "$text$nl"
  else add "$1" failed 'stat failed'
  fi
}

# size of a file, and a few bytes of it where it may be read: section, path, offset, count
read_peek() {
  if ! text=$(stat -L -c '%s %b %B' "$2" 2>/dev/null); then
    if [ -e "$2" ]; then add "$1" failed 'stat failed'
    else
      folder=${2%/*}
      status=absent
      [ ! -d "$folder" ] || [ -x "$folder" ] || status=denied
      add "$1" "$status" ''
    fi
    return
  fi
  [ -f "$2" ] || { add "$1" failed 'not a regular file'; return; }
  set -- "$1" "$2" "$3" "$4" "${text%% *}" "${text#* }"
  bytes=denied
  [ "$4" -le 16 ] && [ -r "$2" ] && bytes=$(od -An -tu1 "-j$3" "-N$4" "$2" 2>/dev/null)
  bytes=$(echo $bytes)
  add "$1" ok "size $5${nl}allocated $((${6% *} * ${6#* }))${nl}bytes $bytes$nl"
}

# whether a group of that period is due
due() {
  [ "$1" -eq 1 ] && return 0
  [ "$first" = 1 ] && return 0
  [ "$1" -gt 1 ] && [ $((tick % $1)) -eq 0 ]
}

host_readings() {
  IFS=$nl
  for item in $host; do
    IFS=$tab
    set -- $item
    unset IFS
    word=$1; every=$2; path=$3
    shift 3
    due "$every" || continue
    from=${1-0}; count=${2-0}
    prefixes=
    for prefix; do prefixes=$prefixes$prefix$tab; done
    prefix=
    [ "$word" = read ] || prefix=$word:
    case $path in
      *'*'*) set +f; IFS=; set -- $root$path; unset IFS; set -f;;
      *) set -- "$root$path";;
    esac
    for found; do
      case $found in *'*'*) continue;; esac
      case $word in
        read) read_one "${found#"$root"}" "$found" "$prefixes";;
        list) read_list "list:${found#"$root"}" "$found";;
        link) read_link "link:${found#"$root"}" "$found";;
        statvfs) read_vfs "statvfs:${found#"$root"}" "$found";;
        peek) read_peek "peek:${found#"$root"}" "$found" "$from" "$count";;
      esac
    done
  done
  unset IFS
}

# name of a process, its parent and start time; comm may hold blanks and parentheses
process() {
  comm=; ppid=; start=
  { read -r stat <"$proc/$1/stat"; } 2>/dev/null || return 1
  comm=${stat#*\(}; comm=${comm%)*}
  set -- ${stat##*) }
  [ $# -ge 20 ] || return 1
  ppid=$2
  shift 19
  start=$1
}

# pids that may be a match: kind, value
candidates() {
  set +f
  set -- "$1" "$2" "$proc"/[0-9]*
  set -f
  kind=$1; value=$2
  shift 2
  found=
  short=$value
  while [ ${#short} -gt 15 ]; do short=${short%?}; done
  case $kind in
    pid) found=$value;;
    comm|exe_name)
      for dir; do
        comm=
        { read -r comm <"$dir/comm"; } 2>/dev/null
        [ "$comm" = "$short" ] && found="$found ${dir##*/}"
      done;;
    cmdline|unit)
      file=cmdline; pattern=$value
      [ "$kind" = cmdline ] || { file=cgroup; pattern=/$value; }
      set +f
      for dir in $(grep -lF -e "$pattern" "$proc"/[0-9]*/$file 2>/dev/null); do
        dir=${dir%/*}
        found="$found ${dir##*/}"
      done
      set -f;;
  esac
}

not_a_root() {
  case $comm in
    oc-*|sh|bash|dash|zsh|fish|csh|tcsh|ksh|busybox|ash|sudo|su|ssh|sshd*|screen|tmux*|tail|less|cat|grep|vi|vim|nano|env|timeout) return 0;;
  esac
  [ "$1" = $$ ]
}

# fills roots and kids: "id pid start" a line
scan() {
  roots=; kids=; seen=' '
  IFS=$nl
  for item in $matches; do
    IFS=$tab
    set -- $item
    unset IFS
    id=$1
    candidates "$2" "$3"
    for pid in $found; do
      case $seen in *" $pid "*) continue;; esac
      process "$pid" || continue
      not_a_root "$pid" && continue
      case "$seen" in *" $ppid "*) continue;; esac
      case " $found " in *" $ppid "*) [ "$kind" = unit ] || continue;; esac
      seen="$seen$pid "
      roots="$roots$id $pid $start$nl"
      [ -z "$children" ] || below "$pid"
    done
  done
  unset IFS
}

# all processes below a pid (needs CONFIG_PROC_CHILDREN)
below() {
  todo=$1
  while [ -n "$todo" ]; do
    set -- $todo
    parent=$1
    shift
    todo=$*
    set +f
    for kid in $(cat "$proc/$parent"/task/*/children 2>/dev/null); do
      process "$kid" || continue
      kids="$kids$id $kid $start$nl"
      seen="$seen$kid "
      todo="$todo $kid"
    done
    set -f
  done
}

# a value that may leave: of an allowed option, an absolute path of short plain pieces
simple() {
  case " $allowed " in *" $1 "*) ;; *) return 1;; esac
  case $2 in /*) ;; *) return 1;; esac
  case $2 in *[!A-Za-z0-9/._-]*|*PVT_*|*PUB_*|*SIG_*) return 1;; esac
  rest=$2
  IFS=/._-
  set -- $rest
  unset IFS
  for piece; do [ ${#piece} -lt 40 ] || return 1; done
}

option_name() {
  case $1 in *[!a-z0-9-]*) return 1;; esac
  [ ${#1} -lt 40 ]
}

# a command line: the program's name, names of options, and values that may leave; the rest is ***
read_cmdline() {
  { words=$(tr '\000\n' '\n ' <"$2" | cat); } 2>/dev/null || { add "$1" denied ''; return; }
  IFS=$nl
  set -- "$1" $words
  unset IFS
  name=$1
  text=${2##*/}
  option_name "$text" || text='***'
  [ $# -lt 2 ] || shift
  shift
  awaiting=
  for word; do
    value='***'
    case $word in
      --*=*)
        option=${word%%=*}
        option_name "${option#--}" || option='--?'
        if simple "${option#--}" "${word#*=}"; then value=${word#*=}; fi
        value=$option=$value
        awaiting=;;
      --*) awaiting=${word#--}; if option_name "$awaiting"; then value=$word; else value='--?'; fi;;
      -[a-z]) value=$word; awaiting=${word#-};;
      *) if [ -n "$awaiting" ] && simple "$awaiting" "$word"; then value=$word; fi; awaiting=;;
    esac
    text=$text$mark$value
  done
  has_mark=1
  add "$name" ok "$text"
}

# kind of section, processes, files
process_readings() {
  IFS=$nl
  for process in $2; do
    unset IFS
    set -- "$1" "$2" "$3" $process
    here=$proc/$5
    [ -e "$here/stat" ] || { scan_at=$tick; continue; }
    case "$known" in *" $5/$6 "*) old=1;; *) old=; known="$known$5/$6 ";; esac
    IFS=$nl
    for item in $3; do
      IFS=$tab
      set -- "$1" "$2" "$3" "$4" "$5" "$6" $item
      unset IFS
      every=$7; file=$8
      shift 8
      prefixes=
      for prefix; do prefixes=$prefixes$prefix$tab; done
      set -- $process
      [ -z "$old" ] || due "$every" || { set -- "$kind_of" "$list_of" "$files_of" $process; continue; }
      name=$kind_of/$1/$2/$3/$file
      case $file in
        threads|log) ;;
        exe|cwd) read_link "$name" "$here/$file";;
        cmdline) read_cmdline "$name" "$here/$file";;
        *) read_one "$name" "$here/$file" "$prefixes";;
      esac
      set -- "$kind_of" "$list_of" "$files_of" $process
    done
    set -- "$kind_of" "$list_of" "$files_of"
    IFS=$nl
  done
  unset IFS
}

# the folder of a process's cgroup for a v1 controller, or of v2 for "": pid, controller
cgroup_folder() {
  folder=
  IFS=$nl
  for line in $cgroup_lines; do
    unset IFS
    middle=${line#*:}
    path=${middle#*:}
    middle=${middle%%:*}
    [ "$path" != / ] || path=
    if [ -z "$2" ] && [ -z "$middle" ]; then
      for point in "$root/sys/fs/cgroup" "$root/sys/fs/cgroup/unified"; do
        [ ! -e "$point/cgroup.procs" ] || folder=$point$path
      done
    elif [ -n "$2" ]; then
      case ",$middle," in
        *",$2,"*)
          for point in "$root/sys/fs/cgroup/$2" "$root/sys/fs/cgroup/$middle"; do
            [ ! -d "$point$path" ] || folder=$point$path
          done;;
      esac
    fi
  done
  unset IFS
}

cgroup_one() {
  cgroup_folder "$2" ''
  if [ -n "$folder" ] && [ -e "$folder/$3" ]; then
    read_one "cgroup/$1/$3" "$folder/$3" "$4"
    return
  fi
  case $3 in
    cpu.stat) controller=cpuacct; files=cpuacct.usage;;
    io.stat) controller=blkio; files='blkio.throttle.io_service_bytes_recursive blkio.throttle.io_service_bytes';;
    memory.stat) controller=memory; files=memory.stat;;
    memory.current) controller=memory; files=memory.usage_in_bytes;;
    *) controller=memory; files=memory.memsw.usage_in_bytes;;
  esac
  cgroup_folder "$2" $controller
  for file in $files; do
    [ -n "$folder" ] && [ -e "$folder/$file" ] || continue
    read_one "cgroup/$1/$file" "$folder/$file" ''
    return 0  # a sum over the groups below holds what its twin without them has
  done
}

cgroup_readings() {
  told=' '
  IFS=$nl
  for root_process in $roots; do
    unset IFS
    set -- $root_process
    id=$1; pid=$2
    case $told in *" $id "*) IFS=$nl; continue;; esac
    cgroup_lines=
    while read -r line; do cgroup_lines=$cgroup_lines$line$nl; done 2>/dev/null <"$proc/$pid/cgroup"
    told="$told$id "
    IFS=$nl
    for item in $cgroups; do
      IFS=$tab
      set -- $item
      unset IFS
      every=$1; file=$2
      shift 2
      prefixes=
      for prefix; do prefixes=$prefixes$prefix$tab; done
      ! due "$every" || cgroup_one "$id" "$pid" "$file" "$prefixes"
    done
    IFS=$nl
  done
  unset IFS
}

emit() {
  seq=$((seq + 1))
  trailer="end $run $seq$nl"
  body=$body$trailer
  read -r stat </proc/$$/stat
  set -- $stat
  cpu=$(((${14} + ${15} + ${16} + ${17}) * 10000000))
  head="LPF1 $run $seq ${begun}0000000 $((offset + begun * 10000000)) ${deadline}0000000 $cpu - 0 p 0 $((${#body} - ${#trailer})) ${#body} -"
  if [ -n "$has_mark" ]; then printf '%s\n%s' "$head" "$body" | tr '\001' '\000'
  else printf '%s\n%s' "$head" "$body"
  fi
}

one_tick() {
  [ $((tick % 60)) -ne 0 ] || clock
  now
  begun=$cs
  body=; has_mark=; wanted=
  first=
  last=$ending
  [ "$tick" -ne 0 ] && [ -z "$last" ] || first=1
  if [ -n "$matches" ] && [ "$tick" -ge "$scan_at" ]; then
    scan
    scan_at=$((tick + scan_every_ticks))
    [ -n "$roots" ] || scan_at=$((tick + 2))
  fi
  [ $((tick % 60)) -ne 0 ] || add agent ok "kind sh${nl}left_out $left_out$nl"
  host_readings
  kind_of=nodeos; list_of=$roots; files_of=$processes
  process_readings nodeos "$roots" "$processes"
  kind_of=child; list_of=$kids; files_of=$children
  process_readings child "$kids" "$children"
  [ -z "$cgroups" ] || cgroup_readings
  read_wanted
  emit
  tick=$((tick + 1))
}

wait_for() {
  while :; do
    now
    left=$(($1 - cs))
    [ "$left" -gt 0 ] && [ -z "$ending$replan" ] || return 0
    [ "$left" -lt 100 ] || left=100
    if [ -n "$part" ]; then
      if [ "$left" -lt 10 ]; then sleep 0.0$left; elif [ "$left" -lt 100 ]; then sleep 0.$left; else sleep 1; fi
    else sleep 1
    fi
  done
}

# listens beside the loop; tells by signals, since it shares no variables with it
listen() {
  trap - EXIT
  while read -r message rest <&3; do
    case $message in
      beat) kill -USR1 $$;;
      end) kill -USR2 $$; exit;;
      plan) kill -HUP $$; exit;;
    esac
  done
  kill -TERM $$
}

take_line() {
  IFS=$tab
  set -- $line
  unset IFS
  word=$1
  shift
  case $word in
    interval_ms|ticks|scan_every_ticks|heartbeat_s|queue_bytes|read_bytes|send_every_ticks) number "$1"; eval "$word=$1";;
    read|list|link|statvfs|peek) number "$1"; host=$host$line$nl;;
    match) matches=$matches${line#*"$tab"}$nl;;
    process) number "$1"; processes=$processes${line#*"$tab"}$nl;;
    child) number "$1"; children=$children${line#*"$tab"}$nl;;
    cgroup) number "$1"; cgroups=$cgroups${line#*"$tab"}$nl;;
    allow) allowed="$allowed $1";;
    root) root=$1; proc=$root/proc;;
    http|config|command|connect|logcommand|logmark|spool) ;;
    *) fail "an unknown directive: $word";;
  esac
}

take_plan() {
  interval_ms=1000; ticks=0; scan_every_ticks=10; heartbeat_s=60; read_bytes=262144
  root=; proc=/proc; host=; matches=; processes=; children=; cgroups=; allowed=
  tick=0; scan_at=0; known=' '; roots=; kids=; ending=; replan=
  read -r line <&3 || exit 0
  [ "$line" = "leapprof-plan${tab}1" ] || fail 'not a plan of format 1'
  while IFS= read -r line <&3; do
    [ "$line" != end ] || return 0
    take_line
  done
  exit 0
}

run_plan() {
  now
  deadline=$cs
  beat=$cs
  interval=$(((interval_ms + 9) / 10))
  if [ "$ticks" -ne 1 ]; then listen & reader=$!; fi
  while [ "$ticks" -eq 0 ] || [ "$tick" -lt "$ticks" ]; do
    wait_for "$deadline"
    [ -z "$replan" ] || return 0
    [ -z "$beaten" ] || { now; beat=$cs; beaten=; }
    [ $((cs - beat)) -lt $((heartbeat_s * 100)) ] || exit 0
    one_tick
    [ -z "$last" ] || exit 0
    deadline=$((deadline + interval))
    now
    [ "$cs" -lt $((deadline + interval)) ] || deadline=$((cs - (cs - deadline) % interval))
  done
  # all ticks done: the reader says what comes next
  if [ -n "$reader" ]; then
    while [ -z "$ending$replan" ]; do sleep 1; done
    [ -z "$ending" ] || exit 0
  fi
}

trap 'beaten=1' USR1
trap 'ending=1' USR2
trap 'replan=1' HUP
replan=
root=
while :; do
  if [ -z "$replan" ]; then
    read -r message rest <&3 || exit 0
    case $message in
      plan) ;;
      beat) continue;;
      end) exit 0;;
      *) fail 'an unknown message';;
    esac
  fi
  reader=
  replan=
  take_plan
  run_plan
done
