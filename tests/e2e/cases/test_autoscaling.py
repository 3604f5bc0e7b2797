"""FederatedHPAs with our daemon on real metrics."""

from rig import autoscaling_case


class AutoscalingTest(autoscaling_case.AutoscalingCase):
    pass
