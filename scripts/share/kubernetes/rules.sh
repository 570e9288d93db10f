# shellcheck shell=bash
# The alerts as an object of the Prometheus operator. Sourced by scripts/kubernetes.

# prometheus_rule ALERTS: prints a PrometheusRule with the groups of that file.
prometheus_rule() {
    cat <<'EOT'
# Made from Config/prometheus/alerts.yaml: scripts/kubernetes --rules
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: upcast
  labels:
    app.kubernetes.io/name: upcast
spec:
EOT
    sed -n '/^groups:/,$ { /./s/^/  /; p }' "$1"
}
