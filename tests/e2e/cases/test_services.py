"""Services across clusters with our daemon."""

from rig import services_case


class ServicesTest(services_case.ServicesCase):
    pass
