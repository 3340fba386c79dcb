# check_report.awk - are the report's marks and numbers those of its sources?
# Prints {"passed":N,"of":N,"lines":"- ..."}.

function check(holds, what) {
    checks++
    passed += holds
    lines = lines (checks > 1 ? "\n" : "") (holds ? "- yes: " : "- NO: ") what
}

# The number as a word of its own, not as a part of another one.
function has_number(text, number) {
    gsub(/[^0-9.]+/, " ", text)
    gsub(/\.( |$)/, " ", text)
    return index(" " text " ", " " number " ")
}

# One sentence: its marks must be sources, its numbers in one of those.
function look_at(s,    n, m, mark, number, i, found) {
    while (match(s, /\[[A-Z][0-9]+\]/)) {
        mark[++n] = substr(s, RSTART + 1, RLENGTH - 2)
        s = substr(s, 1, RSTART - 1) " " substr(s, RSTART + RLENGTH)
        marks++
        if (!(mark[n] in source))
            unknown = unknown " [" mark[n] "]"
        else if (source[mark[n]] ~ /^Unconfirmed/ &&
                 tolower(s) !~ /unconfirmed/)
            unsaid = unsaid " [" mark[n] "]"
    }
    while (match(s, /[0-9]+(\.[0-9]+)*/)) {
        number = substr(s, RSTART, RLENGTH)
        s = substr(s, RSTART + RLENGTH)
        numbers++
        found = 0
        for (i = 1; i <= n; i++)
            found = found || has_number(source[mark[i]], number)
        if (!found)
            strange = strange " " number
    }
    return n
}

# A paragraph, by sentences.
function look_through(text,    n, i, sentence) {
    n = split(text, sentence, /[.?!:] /)
    for (i = 1; i <= n; i++)
        cited += look_at(sentence[i])
}

function end_section() {
    if (section != "" && !cited)
        bare = bare " '" section "'"
    cited = 0
}

BEGIN {
    read_members()
    read_sources(member["facts"] "\n" member["papers"] "\n\n" member["news"])
    n = split(member["report"] "\n", line, "\n")
    for (i = 1; i <= n; i++) {
        words += split(line[i], word, " ")
        if (line[i] ~ /^## / || line[i] == "") {
            look_through(text)
            text = ""
        }
        if (line[i] ~ /^## /) {
            end_section()
            section = substr(line[i], 4)
            sections++
        } else if (line[i] !~ /^#/)
            text = text line[i] " "
    }
    end_section()
    check(unknown == "", marks " marks, all of sources that there are" unknown)
    check(strange == "", numbers " numbers, each in a source that its " \
          "sentence names" strange)
    check(bare == "", sections " sections, each with a source" bare)
    check(unsaid == "", "what a source calls unconfirmed is called so" unsaid)
    check(words <= 450, words " words, which is one page")
    system("sleep 0.5") # as long as a reader of longer texts would need
    print "{\"passed\":" passed ",\"of\":" checks ",\"lines\":" \
        put_json(lines) "}"
}
