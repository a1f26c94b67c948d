# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Plots the figures by gnuplot."""
import subprocess

TERMINALS = {"svg": "svg size 760,480 font 'sans-serif,13' background 'white'", "png": "pngcairo size 1140,720 font 'Sans,13'"}

# program, title, gnuplot's line style
CURVES = (("icrc-table", "ICRC, byte table in BPF", "lc rgb '#bbbbbb' pt 4"),
          ("icrc-slice8", "ICRC, slice-8 in BPF", "lc rgb '#888888' pt 6"),
          ("user-zlib", "zlib in user space", "lc rgb '#000000' pt 8 dt 2"),
          ("all", "streams and ICRC", "lc rgb '#c0392b' pt 7 lw 2"),
          ("icrc", "ICRC by folding", "lc rgb '#e08e0b' pt 5"),
          ("streams", "streams", "lc rgb '#2471a3' pt 9"),
          ("parse", "parse only", "lc rgb '#1e8449' pt 11"),
          ("user-isal", "ISA-L in user space", "lc rgb '#000000' pt 1 dt 3"))


def draw(folder, result):
    """Plots programs, live and send, each as .svg and .png."""
    for kind, terminal in TERMINALS.items():
        _gnuplot(folder, f"programs.{kind}", terminal, _programs(result["program"]))
        _gnuplot(folder, f"live.{kind}", terminal, _live(result["live"]))
        _gnuplot(folder, f"send.{kind}", terminal, _send(result["send"]))


def _gnuplot(folder, name, terminal, commands):
    if not commands:
        return
    script = f"set terminal {terminal}\nset output '{name}'\nset border 3\nset tics nomirror\n{commands}\n"
    subprocess.run(["gnuplot"], cwd=folder, input=script, text=True, check=True)


def _block(name, lines):
    return f"${name} << EOD\n" + "\n".join(lines) + "\nEOD\n"


def _programs(program):
    data, curves = "", []
    for number, (name, words, style) in enumerate(CURVES):
        rows = sorted((row["payload"], max(row["net_ns"], 1)) for row in program if row["name"] == name and row["qps"] == 1)
        if rows:
            data += _block(f"curve{number}", [f"{payload} {ns}" for payload, ns in rows])
            curves.append(f"$curve{number} with linespoints {style} title '{words}'")
    if not curves:
        return ""
    return (data + "set logscale xy\nset grid ytics lc rgb '#dddddd'\nset key outside right top\nset xlabel 'payload, bytes'\n"
            "set ylabel 'ns a packet, net of the empty program'\n"
            "set xtics (64, 128, 256, 512, 1024, 2048, 4096)\nset xrange [55:4800]\nplot " + ", \\\n  ".join(curves))


def _bars(lines, titles):
    """lines: titles in quotes, and a number for each."""
    colours = ("#bbbbbb", "#2471a3", "#c0392b")
    columns = [f"{'$bars' if not i else repr('')} using {i + 2}{':xtic(1)' if not i else ''} lc rgb '{colours[i]}' title '{title}'"
               for i, title in enumerate(titles)]
    return (_block("bars", lines) + "set style data histogram\nset style fill solid noborder\nset boxwidth 0.9\n"
            "set yrange [0:*]\nset grid ytics lc rgb '#dddddd'\nset key above horizontal\nset ylabel 'million packets a second'\n"
            "plot " + ", ".join(columns))


def _qps(number):
    return f"{number} QP{'s' if number > 1 else ''}"


def _live(rows):
    groups = sorted({(row["apart"], row["payload"], row["qps"]) for row in rows})
    found = {(row["apart"], row["payload"], row["qps"], row["icrc"]): row for row in rows}
    lines = []
    for apart, payload, qps in groups:
        off, every = found.get((apart, payload, qps, "off")), found.get((apart, payload, qps, "all"))
        if off and every:
            lines.append(f"\"{payload} B, {_qps(qps)}{', two CPUs' if apart else ''}\" "
                         f"{off['empty_mpps']} {off['monitor_mpps']} {every['monitor_mpps']}")
    return _bars(lines, ("empty program", "monitor, ICRC off", "monitor, every ICRC")) if lines else ""


def _send(rows):
    lines = [f"\"{row['payload']} B\\n{_qps(row['qps'])}\\n{row['out']}\" {row['unchanged_mpps']} {row['send_mpps']}" for row in rows]
    return "set bmargin 4\n" + _bars(lines, ("one unchanged packet", "rocescope send")) if lines else ""
