"""FederatedHPAs with upstream's controller manager on the same metrics: what the tests ask of ours is what upstream does."""

from rig import autoscaling_case


class UpstreamAutoscalingTest(autoscaling_case.AutoscalingCase):
    exe = staticmethod(lambda testbed: testbed.exe("upstream-controller-manager"))
