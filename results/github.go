package results

import (
	"fmt"
	"io"
	"strings"
)

// WriteAnnotations writes a workflow command of GitHub Actions for each run that somebody should look at: an error, or a
// warning where nothing could be decided. Actions shows it beside the file that the run's Place names.
//
// Source: https://docs.github.com/actions/reference/workflow-commands-for-github-actions; the escaping is that of
// actions/toolkit.
func WriteAnnotations(w io.Writer, r Report) error {
	var out strings.Builder
	for _, run := range r.Runs {
		command := "error"
		switch run.Outcome() {
		case AsExpected, Unsupported:
			continue
		case Undecided:
			command = "warning"
		}
		var properties []string
		file, line, _ := strings.Cut(run.Place, ":")
		if file != "" {
			properties = append(properties, "file="+escapeProperty(file))
		}
		if line != "" {
			properties = append(properties, "line="+escapeProperty(line))
		}
		properties = append(properties, "title="+escapeProperty(run.Key()))
		var text []string
		for _, s := range explain(run) {
			text = append(text, printable(s.what))
			if s.evidence != "" {
				text = append(text, "  "+printable(s.evidence))
			}
		}
		fmt.Fprintf(&out, "::%s %s::%s\n", command, strings.Join(properties, ","), escapeData(strings.Join(text, "\n")))
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// escapeData is a text after the colons of a workflow command.
func escapeData(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

// escapeProperty is a value before them.
func escapeProperty(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace(s)
}
