"""A real Karmada control plane on loopback, and what tests and benchmarks do with one.

    paths.py      where our binaries, the testbed's servers and the test data are
    process.py    child processes: logs, deadlines, never left behind
    pki.py        certificates, by the openssl command
    kube.py       a small client of one API server
    plane.py      etcd, API servers, controller managers, kwok, Karmada's servers; joined members
    daemon.py     a controller manager, ours or upstream's, on a plane
    hosting.py    Secrets and an etcd for pods of our programs
    pod.py        a container of a pod as a process: command, user, files
    helm.py       the real Helm, and what our charts render to
    installers.py the pods that upstream's installers make of both programs
    prometheus.py a real Prometheus with the rules of the charts
    metrics.py    Prometheus text and what we count in it
    audit.py      who wrote what at an API server
    snapshot.py   every object of control plane and members, and what has changed
    scenario.py   carries the steps of scenarios out and waits until everything stands still
    recording.py  what scenarios leave behind, in a form that can be compared
    replay.py     tests that compare scenarios with recordings of upstream
    takeover.py   tests in which our daemon takes upstream's place and gives it back
    template_classes.py   which classes of templates are propagated
"""
