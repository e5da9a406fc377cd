// Renders a chart as `helm template` does, with the template engine and the functions that Helm has, from Debian's packages:
// what a test needs on a machine without Helm. Standard input: the values, merged, as JSON. Output: the documents.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig"
	"gopkg.in/yaml.v3"
)

func main() {
	chart, release := os.Args[1], os.Args[2]
	values := map[string]any{}
	check(json.NewDecoder(os.Stdin).Decode(&values))
	about := map[string]any{}
	text, err := os.ReadFile(filepath.Join(chart, "Chart.yaml"))
	check(err)
	check(yaml.Unmarshal(text, &about))
	for name, value := range about {
		about[strings.ToUpper(name[:1])+name[1:]] = value
	}
	root := map[string]any{
		"Values":  values,
		"Chart":   about,
		"Release": map[string]any{"Name": release, "Namespace": release, "Service": "Helm"},
	}

	all := template.New("chart").Option("missingkey=zero")
	all.Funcs(sprig.TxtFuncMap()).Funcs(template.FuncMap{
		"toYaml": func(value any) string {
			text, err := yaml.Marshal(value)
			check(err)
			return strings.TrimSuffix(string(text), "\n")
		},
		"include": func(name string, data any) (string, error) {
			var out bytes.Buffer
			err := all.ExecuteTemplate(&out, name, data)
			return out.String(), err
		},
		"required": func(message string, value any) (any, error) {
			if value == nil || value == "" {
				return nil, fmt.Errorf("%s", message)
			}
			return value, nil
		},
	})
	files, err := filepath.Glob(filepath.Join(chart, "templates", "*"))
	check(err)
	sort.Strings(files)
	for _, file := range files {
		text, err := os.ReadFile(file)
		check(err)
		_, err = all.New(filepath.Base(file)).Parse(string(text))
		check(err)
	}
	for _, file := range files {
		if strings.HasPrefix(filepath.Base(file), "_") {
			continue
		}
		var out bytes.Buffer
		check(all.ExecuteTemplate(&out, filepath.Base(file), root))
		if filepath.Base(file) == "NOTES.txt" {
			continue
		}
		// Helm does the same: the engine writes this for a key that is not there.
		fmt.Printf("---\n# Source: %s\n%s\n", filepath.Base(file), strings.ReplaceAll(out.String(), "<no value>", ""))
	}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
