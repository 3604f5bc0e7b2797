"""Services across clusters with upstream's controller manager: what the tests ask of ours is what upstream does."""

from rig import services_case


class UpstreamServicesTest(services_case.ServicesCase):
    exe = staticmethod(lambda testbed: testbed.exe("upstream-controller-manager"))
