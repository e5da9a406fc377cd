{{- define "vantage.image" -}}
{{ .root.Values.image.prefix }}{{ .name }}:{{ .root.Values.image.tag | default .root.Chart.AppVersion }}
{{- end }}

{{- define "vantage.labels" -}}
app.kubernetes.io/part-of: vantage
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "vantage.pullSecrets" -}}
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- end }}

{{/*
Variables of a container: `own` of the chart, unless `settings` of the values have the same name. Two of one name are refused by a
server-side apply, and an upgrade may lose both.
*/}}
{{- define "vantage.env" -}}
{{- $settings := .settings | default dict }}
{{- range $name, $value := .own }}
{{- if not (hasKey $settings $name) }}
{{ include "vantage.variable" (list $name $value) }}
{{- end }}
{{- end }}
{{- range $name, $value := $settings }}
{{ include "vantage.variable" (list $name $value) }}
{{- end }}
{{- end }}

{{/* Numbers of values are floating-point ones, of which a million would be written as 1e+06. */}}
{{- define "vantage.variable" -}}
{{- $value := index . 1 }}
{{- if kindIs "float64" $value }}
{{- if eq $value (floor $value) }}{{ $value = printf "%.0f" $value }}{{ end }}
{{- end -}}
- { name: {{ index . 0 }}, value: {{ $value | quote }} }
{{- end }}
