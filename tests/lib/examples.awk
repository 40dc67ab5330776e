# usage: awk -v dir=DIR -f tests/lib/examples.awk PAGE.1|README.md
# Writes each example to DIR/NN.run, or to DIR/NN.norun with the reason as first line: a comment.
# Page: every .Dl line and every literal block of the EXAMPLES section; not run when the line
# before it is  .\" norun: reason.   README: every block fenced as sh; not run: ```sh norun: reason
# A line that ends in \ goes on in the next.  Ends with status 1 on what roff would change.
function begin() {
	n++
	file = sprintf("%s/%02d.%s", dir, n, norun == "" ? "run" : "norun")
	printf "# %s:%d %s\n", FILENAME, FNR, norun > file
}
function plain(s) {
	gsub(/\\e|\\\(bs|\\\(rs/, "\001", s)
	gsub(/\\-/, "-", s)
	gsub(/\\\(aq/, "'", s)
	gsub(/\\\(dq/, "\"", s)
	gsub(/\\\(ga/, "`", s)
	gsub(/\\\(ti/, "~", s)
	gsub(/\\\(ha/, "^", s)
	gsub(/\\&/, "", s)
	gsub(/\\ /, " ", s)
	if (s ~ /\\/)
		bad("unknown escape: " s)
	gsub(/\001/, "\\", s)
	return s
}
function bad(why) {
	printf "%s:%d: %s\n", FILENAME, FNR, why > "/dev/stderr"
	failed = 1
}
function put(s) {
	print s > file
}

FILENAME ~ /\.md$/ {
	if (!block && /^```sh( norun: .+)?$/) {
		norun = substr($0, 7)
		block = 1
		begin()
	} else if (!block && /^```/) {
		if ($0 != "```text")
			bad("a fence that is neither sh nor text")
		block = 2
	} else if (block && /^```$/) {
		if (block == 1)
			close(file)
		block = 0
		norun = ""
	} else if (block == 1) {
		put($0)
	}
	next
}

/^\.Sh / { inside = ($0 == ".Sh EXAMPLES"); next }
!inside { next }
/^\.\\" norun: ./ { norun = substr($0, 5); next }
/^\.Bd .*-literal/ { block = 1; begin(); next }
/^\.Ed/ { if (block) close(file); block = 0; norun = ""; next }
block && /^\.\\"/ { next }
block && /^\./ { bad("a macro inside a literal block"); next }
block { put(plain($0)); next }
/^\.Dl / {
	line = substr($0, 5)
	if (line ~ /"/)
		bad("a bare double quote in .Dl is lost: write \\(dq")
	count = split(line, word, " ")
	for (i = 1; i <= count; i++)
		if (word[i] ~ /^(Ar|Fl|Cm|Nm|Pa|Ic|Xr|Em|Sy|Li|Ev|Op|Ql|Dq|Sq|No|Ns|Pq|Bq|Ad|An|Er|Fa|Fn|Ft|Va|Vt|Tn|Ux|Ms|Sx|St|Lk|Mt|Cd|In|Ap)$/)
			bad("a macro inside .Dl: " word[i])
	if (!going)
		begin()
	line = plain(line)
	put(line)
	going = line ~ /\\$/
	if (!going) {
		close(file)
		norun = ""
	}
	next
}
END {
	if (block)
		bad("a block without an end")
	exit failed
}
