# cite_sources.awk - the sources of a report, in the order it names them.
function first_sentence(s) {
    return match(s, /\.( |$)/) ? substr(s, 1, RSTART - 1) : s
}

BEGIN {
    read_members()
    read_sources(member["facts"] "\n" member["papers"] "\n\n" member["news"])
    s = member["report"]
    while (match(s, /\[[A-Z][0-9]+\]/)) {
        mark = substr(s, RSTART + 1, RLENGTH - 2)
        s = substr(s, RSTART + RLENGTH)
        if (!times[mark]++)
            order[++n] = mark
    }
    for (i = 1; i <= n; i++) {
        mark = order[i]
        line = "- [" mark "] " first_sentence(source[mark])
        if (times[mark] > 1)
            line = line " (" times[mark] " times)"
        list = list (i == 1 ? "" : "\n") line
    }
    printf "%s", list
    system("sleep 0.4") # as long as with more sources
}
