package results

import (
	"bytes"
	"fmt"
	"io"
	"strings"
)

// WriteMarkdown writes the table of WriteTable as GitHub Markdown. Names and sentences stay text: nothing in them becomes
// markup.
func WriteMarkdown(w io.Writer, r Report) error {
	var out bytes.Buffer
	all := blocks(r.Runs)
	for _, b := range all {
		markdownBlock(&out, b, sides(all))
	}
	for _, line := range []string{holdersMeans, harmedMeans, symbols(all)} {
		if line != "" {
			fmt.Fprintf(&out, "- %s\n", markdownText(line))
		}
	}
	out.WriteByte('\n')
	for _, run := range r.Runs {
		switch run.Outcome() {
		case NotAsExpected, Undecided, Failed:
			markdownComplaint(&out, run)
		}
	}
	fmt.Fprintf(&out, "%s\n", markdownText(r.summary()))
	_, err := w.Write(out.Bytes())
	return err
}

func markdownBlock(out *bytes.Buffer, b block, halves []side) {
	fmt.Fprintf(out, "### %s\n\n| lock |", markdownText(strings.TrimSpace(b.code+" "+b.heading())))
	rule := "\n|---|"
	for _, half := range halves {
		fmt.Fprintf(out, " 2 holders, %s | harmed, %s |", half.name, half.name)
		rule += "---|---|"
	}
	fmt.Fprintf(out, " also |%s---|\n", rule)
	for _, r := range b.rows {
		fmt.Fprintf(out, "| %s |", markdownText(r.names()))
		for _, half := range halves {
			c := half.of(r)
			fmt.Fprintf(out, " %s | %s |", markdownCell(c.holders), markdownCell(c.harmed))
		}
		fmt.Fprintf(out, " %s |\n", markdownText(r.notes))
	}
	out.WriteByte('\n')
}

// markdownCell stresses what is not as expected.
func markdownCell(text string) string {
	if strings.HasSuffix(text, "!") || text == failed {
		return "**" + text + "**"
	}
	return text
}

func markdownComplaint(out *bytes.Buffer, r Run) {
	fmt.Fprintf(out, "- %s\n", markdownCode(r.Key()))
	for _, s := range explain(r) {
		fmt.Fprintf(out, "  - %s\n", markdownText(s.what))
		if s.evidence != "" {
			fmt.Fprintf(out, "    - %s\n", markdownText(s.evidence))
		}
	}
	out.WriteByte('\n')
}

var markdownEscapes = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", `*`, `\*`, `_`, `\_`, `[`, `\[`, `]`, `\]`, `<`, `\<`, `>`, `\>`, `|`, `\|`, `~`, `\~`, `&`, `\&`,
	`#`, `\#`, `$`, `\$`,
)

// markdownText escapes what would be markup inside a line.
func markdownText(s string) string { return markdownEscapes.Replace(printable(s)) }

// markdownCode makes a code span, in which a key cannot become a link to an issue. Its fence is longer than any run of
// backticks within.
func markdownCode(s string) string {
	fence, gap := "`", ""
	for strings.Contains(s, fence) {
		fence, gap = fence+"`", " "
	}
	return fence + gap + printable(s) + gap + fence
}
