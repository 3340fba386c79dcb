# json.awk - for the other programs here: a JSON object of strings, read from
# standard input into member[name], and texts written as JSON.

function unescaped(c) {
    return c == "n" ? "\n" : c == "t" ? "\t" : c == "r" ? "\r" : c
}

# What stands between the quotes that follow; sets json_at behind them.
function json_text(s,    c, out) {
    for (json_at++; (c = substr(s, json_at, 1)) != "\""; json_at++) {
        if (c == "")
            return out
        if (c == "\\")
            c = unescaped(substr(s, ++json_at, 1))
        out = out c
    }
    json_at++
    return out
}

function read_members(    s, c, key, line) {
    while ((getline line) > 0)
        s = s line "\n"
    for (json_at = 1; (c = substr(s, json_at, 1)) != "";)
        if (c != "\"")
            json_at++
        else if (key == "")
            key = json_text(s)
        else {
            member[key] = json_text(s)
            key = ""
        }
}

function put_json(s) {
    gsub(/\\/, "\\\\", s)
    gsub(/"/, "\\\"", s)
    gsub(/\n/, "\\n", s)
    gsub(/\t/, "\\t", s)
    return "\"" s "\""
}

# The items of a text, each begun by a mark such as [P1], as source[mark].
function read_sources(text,    n, i, line, mark) {
    n = split(text, line, "\n")
    for (i = 1; i <= n; i++) {
        if (match(line[i], /^\[[A-Z][0-9]+\] /)) {
            mark = substr(line[i], 2, RLENGTH - 3)
            source[mark] = substr(line[i], RLENGTH + 1)
        } else if (line[i] == "" || line[i] ~ /^#/)
            mark = ""
        else if (mark != "")
            source[mark] = source[mark] " " line[i]
    }
}
