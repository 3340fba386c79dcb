# extract_facts.awk - each point of a list as one line with a mark.
BEGIN {
    read_members()
    n = split(member["text"], line, "\n")
    for (i = 1; i <= n; i++) {
        if (line[i] ~ /^- /)
            fact[++facts] = substr(line[i], 3)
        else if (line[i] ~ /^  / && facts)
            fact[facts] = fact[facts] " " substr(line[i], 3)
    }
    for (i = 1; i <= facts; i++)
        print "[W" i "] " fact[i]
    system("sleep 0.4") # as long as a reader of longer texts would need
}
