# Reads apt's source files, in either format, and prints one line for each binary source:
#   URI SUITE COMPONENT,COMPONENT... TRUSTED
# with TRUSTED "yes" or "no". Disabled entries and source packages are left out.

function flush_stanza(    i, j, uris, suites) {
	if (("types" in field) && " " field["types"] " " ~ / deb / && tolower(field["enabled"]) !~ /^(no|false|0)$/) {
		split(field["uris"], uris, " ")
		split(field["suites"], suites, " ")
		for (i = 1; i in uris; i++)
			for (j = 1; j in suites; j++)
				emit(uris[i], suites[j], field["components"], field["trusted"])
	}
	split("", field)
	name = ""
}

function emit(uri, suite, components, trusted) {
	gsub(/^ +| +$/, "", components)
	gsub(/ +/, ",", components)
	print uri, suite, (components == "" ? "-" : components), (tolower(trusted) == "yes" ? "yes" : "no")
}

FNR == 1 { flush_stanza() }
{ gsub(/\t/, " "); sub(/\r$/, "") }
/^ *#/ { next }

# One line each: deb [option=value ...] URI SUITE COMPONENT...
FILENAME !~ /\.sources$/ {
	if ($1 != "deb") next
	options = ""
	if (match($0, /\[[^]]*\]/)) {
		options = substr($0, RSTART + 1, RLENGTH - 2)
		$0 = substr($0, 1, RSTART - 1) " " substr($0, RSTART + RLENGTH)
	}
	components = ""
	for (i = 4; i <= NF && $i !~ /^#/; i++) components = components " " $i
	emit($2, $3, components, " " options " " ~ / trusted=yes / ? "yes" : "no")
	next
}

# deb822: stanzas of fields, whose values go on in lines that begin with a blank.
/^ *$/ { flush_stanza(); next }
/^ / { if (name != "") field[name] = field[name] " " $0; next }
{
	colon = index($0, ":")
	name = tolower(substr($0, 1, colon - 1))
	field[name] = " " substr($0, colon + 1)
	gsub(/^ +/, "", field[name])
}
END { flush_stanza() }
