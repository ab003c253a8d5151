{{- define "rag.labels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}
{{- define "rag.secret" -}}
{{ .Values.token.existingSecret | default (printf "%s-token" .Release.Name) }}
{{- end }}
{{- define "rag.claim" -}}
{{ .Values.volume.existingClaim | default (printf "%s-workspace" .Release.Name) }}
{{- end }}
