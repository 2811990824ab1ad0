"""Manifests of a made-up harbour, for tests of the importer."""

from __future__ import annotations

import textwrap
from pathlib import Path

from heldout.ingest.draft import WorldDraft
from heldout.ingest.kubernetes import Imported, into

SHOP = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: berth, namespace: dock, labels: {app: berth}}
spec:
  replicas: 3
  selector: {matchLabels: {app: berth}}
  template:
    metadata: {labels: {app: berth}}
    spec:
      serviceAccountName: berth
      containers:
      - name: server
        image: example.test/berth:1.4
        env:
        - {name: CRANE_SERVICE_ADDR, value: "crane:7000"}
        - {name: TIDE_URL, value: "http://tide.sea.svc.cluster.local:80/v1"}
        - {name: DB_PASSWORD, value: hunter22}
        - {name: POOL_SIZE, valueFrom: {configMapKeyRef: {name: berth-settings, key: pool}}}
        - {name: LOG_STYLE, value: crane}
        resources: {requests: {memory: 64Mi}, limits: {memory: 128Mi}}
      volumes:
      - {name: keys, secret: {secretName: berth-keys}}
---
apiVersion: v1
kind: Service
metadata: {name: berth, namespace: dock}
spec: {selector: {app: berth}, ports: [{port: 80}]}
---
# only a comment
---
apiVersion: v1
kind: List
items:
- apiVersion: apps/v1
  kind: Deployment
  metadata: {name: crane, namespace: dock}
  spec:
    selector: {matchLabels: {app: crane}}
    template:
      metadata: {labels: {app: crane}}
      spec: {containers: [{name: server, image: "example.test/crane:2"}]}
- apiVersion: v1
  kind: Service
  metadata: {name: crane, namespace: dock}
  spec: {selector: {app: crane}}
- apiVersion: v1
  kind: ConfigMap
  metadata: {name: berth-settings, namespace: dock}
  data: {pool: "20", opening: 2024-01-02}
- apiVersion: v1
  kind: Secret
  metadata:
    name: berth-keys
    namespace: dock
    annotations:
      kubectl.kubernetes.io/last-applied-configuration: '{"data":{"key":"aHVudGVyMjI="}}'
  data: {key: aHVudGVyMjI=, again: aHVudGVyMjI=}
- apiVersion: v1
  kind: ServiceAccount
  metadata: {name: berth, namespace: dock}
- apiVersion: harbour.test/v1
  kind: Tugboat
  metadata: {name: tim, namespace: dock}
  spec: {power: 40, ropes: {front: 2}}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: tide, namespace: sea}
spec:
  replicas: 2
  selector: {matchLabels: {app: tide}}
  template:
    metadata: {labels: {app: tide}}
    spec: {containers: [{name: server, image: "example.test/tide:3"}]}
---
apiVersion: v1
kind: Service
metadata: {name: tide, namespace: sea}
spec: {clusterIP: None, selector: {app: tide}}
"""


def write(folder: Path, name: str, text: str) -> Path:
    """Write one file below a folder."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(textwrap.dedent(text), encoding="utf-8")
    return path


def written(imported: Imported, folder: Path, now: int) -> str:
    """Write an import as a world; its digest."""
    with WorldDraft(name=imported.name) as draft:
        into(draft, imported)
        return draft.write(folder, now=now)
