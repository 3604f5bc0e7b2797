"""A real Karmada control plane on loopback, and what tests and benchmarks do with one.

    paths.py      where our binaries, the testbed's servers and the test data are
    process.py    child processes: logs, deadlines, never left behind
    pki.py        certificates, by the openssl command
    kube.py       a small client of one API server
    plane.py      etcd, API servers, controller managers, kwok, Karmada's servers; joined members
    daemon.py     a controller manager, ours or upstream's, on a plane
    metrics.py    Prometheus text and what we count in it
    audit.py      who wrote what at the control plane
    scenario.py   replays a scenario and compares what it left behind with a recording
"""
