"""Figures that others printed: the paper's tables, and a network's under its own protocol.

Bad pixels in percent of all pixels (error above 1 px) and RMSE in disparity pixels, for Tsukuba,
Venus, Teddy and Cones; None where a table has no figure. The paper's ground truth is its own: in
Teddy and Cones its RMSE is mostly that of the holes, so that only Tsukuba and Venus compare.
"""

from __future__ import annotations

Figures = tuple[float | None, ...]
NONE: Figures = (None, None, None, None)

PAPER: dict[int, dict[str, tuple[Figures, Figures]]] = {
    2: {
        "nearest neighbour": ((0.612, 0.288, 1.543, 1.531), (1.24, 0.37, 4.97, 2.51)),
        "Yang et al. 2007": (NONE, (1.16, 0.25, 2.43, 2.39)),
        "Diebel et al. 2005": (NONE, (2.51, 0.57, 2.78, 3.55)),
        "Chan et al. 2008": ((None, 0.216, 1.023, 1.353), NONE),
        "Hawe et al. 2012": ((0.278, 0.105, 0.996, 0.939), (1.03, 0.22, 2.95, 3.56)),
        "JID 2013": ((0.255, 0.075, 0.702, 0.680), (0.47, 0.09, 1.41, 1.81)),
        "the paper": ((0.256, 0.077, 0.803, 0.821), (0.83, 0.12, 1.96, 2.69)),
    },
    4: {
        "nearest neighbour": ((1.189, 0.408, 1.943, 2.470), (3.53, 0.81, 6.71, 5.44)),
        "Yang et al. 2007": (NONE, (2.56, 0.42, 5.95, 4.76)),
        "Diebel et al. 2005": (NONE, (5.12, 1.24, 8.33, 7.52)),
        "Chan et al. 2008": ((None, 0.273, 1.125, 1.450), NONE),
        "Hawe et al. 2012": ((0.450, 0.179, 1.389, 1.398), (2.95, 0.65, 4.80, 6.54)),
        "JID 2013": ((0.487, 0.129, 1.347, 1.383), (1.73, 0.25, 3.54, 5.16)),
        "the paper": ((0.374, 0.108, 1.256, 1.287), (1.48, 0.23, 3.99, 4.69)),
    },
    8: {
        "nearest neighbour": ((1.135, 0.546, 2.614, 3.260), (3.56, 1.90, 10.9, 10.4)),
        "Yang et al. 2007": (NONE, (6.95, 1.19, 11.50, 11.00)),
        "Diebel et al. 2005": (NONE, (9.68, 2.69, 14.5, 14.4)),
        "Lu et al. 2011": (NONE, (5.09, 1.00, 9.87, 11.30)),
        "Chan et al. 2008": ((None, 0.369, 1.410, 1.635), NONE),
        "Hawe et al. 2012": ((0.713, 0.249, 1.743, 1.883), (5.59, 1.24, 11.40, 12.30)),
        "JID 2013": ((0.753, 0.156, 1.662, 1.871), (3.53, 0.33, 6.49, 9.22)),
        "the paper": ((0.660, 0.155, 1.729, 1.931), (3.30, 0.34, 8.11, 8.57)),
    },
}
"""Tables tab:rmse_results and tab:middlebury_results: RMSE and bad pixels by factor and method."""

NETWORK: dict[int, dict[str, tuple[Figures, Figures]]] = {
    2: {"MSG-Net 2016": ((0.105, 0.018, 0.159, 0.221), (0.11, 0.0, 0.27, 0.59))},
    4: {"MSG-Net 2016": ((0.280, 0.043, 0.347, 0.651), (0.73, 0.02, 1.36, 2.24))},
    8: {"MSG-Net 2016": ((0.561, 0.130, 0.675, 1.064), (2.83, 0.16, 4.24, 5.60))},
}
"""A trained network under the protocol "network"."""

PRINTED = {"paper": PAPER, "network": NETWORK}
