"""Errors and inconsistencies of the papers: (where, what stands there, what is right, and the words by which it is
looked up, as in `quotations`)."""

from __future__ import annotations

FAULTS: tuple[tuple[str, str, str, str], ...] = (
    # -- D, chapter 5, and P2 ----------------------------------------------------------------------------------------
    (
        "D table 5.1",
        "By the caption the columns of state reads and writes are the MIMD architecture's.",
        "They are the SIMD one's: a single pass has no state between passes.",
        r"for the mimd architecture, we also show",
    ),
    (
        "P2 table 1",
        "Two 4-vector outputs, 8 words, are what the architecture writes; Step, Reflected and Path write 9 words.",
        "Three outputs, or two passes, are needed for those three kernels.",
        r"two floating point 4-vector outputs|step 20 14 9 ",
    ),
    (
        "D 5.2.1, P2 4.1",
        "The grids' resolutions spend equal amounts of time in traversal and intersection.",
        "By table 5.1 and figure 5.2, SIMD, 10^9 instructions traversal : intersection are 0.34 : 0.11, 0.59 : 1.74, "
        "1.75 : 1.47, 2.78 : 2.06 and 2.01 : 0.60.",
        r"equal amounts of time",
    ),
    (
        "D 5.2.2",
        "Instructions for each byte of the SIMD architecture match those of the Radeon 9700 Pro, 0.208.",
        "By table 5.1 and figure 5.2 they do for three views, 0.21 to 0.22; Soda Hall Inside has 0.26, Outside 0.11: "
        "most of its bytes are states of finished rays.",
        r"match.*radeon 9700 pro",
    ),
    (
        "D 5.2.1, P2 4.1",
        "Bunny Ray Cast is the bunny, in a grid of 98 x 64 x 163, with 0.82 shadings a ray.",
        "The bunny alone is near to a cube (83 x 82 x 64). It must stand on a ground of about 1.53 x 2.55 times its "
        "height, which is not mentioned.",
        r"98 x 64 x 163",
    ),
    (
        "D 5.2.1, P2 4.1",
        "The forest has millions of triangles.",
        "Figure 5.2 gives 1.0 million.",
        r"millions of tiny triangles",
    ),
    (
        "D 4.1.2, 5.2.2, P2 3.2, 4.2",
        "With the 20 % rule the number of passes is within two to three times the optimum.",
        "Table 5.2 gives 1.1 to 2.0 times the sum of the longest ray's steps and tests, and 1.15 to 3.3 times the "
        "larger of the two; and of which rays the 20 % are, all or those still active, is not said.",
        r"factor of two to three",
    ),
    (
        "D table 5.2, P2 table 2",
        "Shares of active rays of 0.9, 6.1, 6.2, 6.8 and 10.5 %.",
        "(3 + v + t + s) / P of figure 5.2, a pass for eye rays and two for set-up, gives 0.83, 5.9, 6.0, 6.4 and "
        "10.3 %: the printed ones are 2 to 8 % higher, without a reason given.",
        r"outside .*0?\.0?0?9.*10\.?5",
    ),
    (
        "D 5.2.2, P2 4.2",
        "All of the MIMD architecture's bandwidth is for voxel and triangle data.",
        "By table 5.1 and figure 5.2 words of streams are 20 % of it for Soda Hall Outside, 2 to 5 % for the others.",
        r"all of the bandwidth required by the",
    ),
    (
        "D fig. 3.2, P2 fig. 5",
        "The listing of the intersector takes every hit with a triangle of the voxel.",
        "The text has hits beyond the voxel treated as misses; the test for it is not in the listing.",
        r"select\( ?validhit",
    ),
    (
        "D 5.2.3, P2 4.1",
        "A direct-mapped cache of 64 kB has lines of 48 bytes.",
        "65,536 / 48 = 1365.33 is no whole number of lines. Here 1,365, and 1,024 and 2,048 beside it.",
        r"64 ?kb direct-mapped texture cache",
    ),
    (
        "D 5.3",
        "100 million ray-triangle tests a second at the peak.",
        "2.5 G instructions a second by 59 instructions a test are 42 million; and 176 bytes a test at 100 million "
        "would be 17.6 GB/s, where the board has 12.",
        r"peak rate of 100m",
    ),
    (
        "D 5.3",
        "300 thousand to 4 million rays a second.",
        "Quake3 has 1.8 pictures a second of 65,536 pixels with one shadow ray: 118 thousand.",
        r"between 300k and 4m rays",
    ),
    (
        "D 5.3",
        "The text promises a range of frame rates.",
        "The table holds one for each scene.",
        r"range of observed rates",
    ),
    (
        "P2 4.3",
        "The path tracer takes 64 samples a pixel and two bounces, at 3.24 times the instructions of ray casting.",
        "64 eye rays a pixel and two bounces at 256 x 256 would be over 7 times. By figure 3.3 of D one eye ray is "
        "shared by all samples of a pixel: 64 x 256^2 / 1024^2 x 0.82 = 3.28.",
        r"64 samples and 2 bounces",
    ),
    (
        "P2 5.2",
        "222 million tests a second, by 8 G instructions, do not use all of 8 GB/s.",
        "By table 1 a test fetches 10 words, 40 bytes: 222 million are 8.9 GB/s.",
        r"222m ray-triangle",
    ),
    # -- D, chapter 6, and P3 ----------------------------------------------------------------------------------------
    (
        "D 6.2.2, P3 2.2.2",
        "A stencil buffer of 1024 x 1024 with m = 16 leaves 65,536 grid cells.",
        "1024^2 / 16^2 = 4,096. 65,536 cells need m = 4, of m^2 = 16 photons a cell: m and its square were mixed up. "
        "The preset here has m = 4, which all three scenes fit.",
        r"m set to 16, leaving",
    ),
    (
        "D 6.2.2, P3 2.2.2",
        "m = 16 with a stencil that always increments routes 256 photons of a cell to 256 texels.",
        "The value to pass is then 255, where 8 bits saturate: of 256 photons one is left. m = 15 is the most, or the "
        "stencil has to wrap.",
        r"always increment",
    ),
    (
        "D fig. 6.6, P3 fig. 6",
        "By the caption four photons are wanted. Of the two that are rejected one is because the estimate has them, "
        "after "
        "2 + 1; the other is beyond the maximum radius.",
        "What is drawn is the search of three photons.",
        r"four photons are desired",
    ),
    (
        "D 6.4.3, P3 4.3",
        "Tiles gain a factor of two to ten.",
        "6.3.3 has 104 s to 52.4 s and 102 s to 14.9 s: 2.0 and 6.8.",
        r"from two to ten",
    ),
    (
        "D 6.3.2, P3 3.2",
        "At least 20 arithmetic operations for every access to a texture.",
        "Table 6.2 has 25, 32.7 and 37.6, but 17 for binary search.",
        r"at least 20 arithmetic",
    ),
    (
        "P3 3.4, D 6.3.4",
        "The interactive window is of 160 x 160 pixels (P3).",
        "It is of 256 x 256 in D, with the same one to two seconds.",
        r"160 ?x ?160 window|256 x 256 window",
    ),
    (
        "D 6.3.1, P3 3.1",
        "What complex scenes cost is discussed in 6.4.",
        "6.4 has no figures on it. (Nor has this page: photons go through the structures of ordinary scenes, too, but "
        "the papers' three scenes alone are timed.)",
        r"performance impact of complex scenes",
    ),
    (
        "D 6.2.3, P3 2.3",
        "The search through the cells finds all photons in a sphere around the query.",
        "Not if it ends once k are counted: nearer ones may lie in cells that were not visited. It does if it goes on "
        "until the next shell lies beyond the radius.",
        r"all the photons within a sphere",
    ),
    # -- T -----------------------------------------------------------------------------------------------------------
    (
        "T (6.8), (6.9)",
        "The reflected direction is r = d + 2 a, with a = (d . n) n / |n|^2.",
        "r = d - 2 (d . n) n.",
        r"r = d \+ 2",
    ),
    (
        "T (6.30)",
        "The refracted direction has no case for total reflection, and none for leaving a body.",
        "Where d . n > 0 the indices change places and n its sign; where the root is negative all light is reflected.",
        r"equation 6\.30",
    ),
    (
        "T algorithm 6-1",
        "The hierarchy is split in the middle of the box, axes in turn.",
        "Without a rule for all primitives on one side the recursion does not end.",
        r"median point",
    ),
    (
        "T algorithm 6-4",
        "The box is tested by its near and far planes.",
        "Near and far change places for negative directions; and boxes behind the origin, or beyond the nearest hit, "
        "are not ruled out.",
        r"tx min = ",
    ),
    (
        "T 6.4.1",
        "A leaf is told by an empty box at the origin.",
        "A degenerate node at the origin reads as a leaf too.",
        r"if the bounding box is empty",
    ),
    (
        "T 6.2.3, (6.2)",
        "The equations for barycentric coordinates are of x, x and x.",
        "x, y and z in turn: as printed the determinant is 0, and no ray hits.",
        r"mathbfo_x \+ tmathbfd_x",
    ),
    (
        "T 7",
        "The sphere and its plane are 10,000 triangles.",
        "Without a plane of two that is 2 x 4,999, which no longitudes and latitudes give: rounded, or the plane has "
        "more. Here a sphere of 8,200 and a plane of 1,800.",
        r"10 000 triangles",
    ),
    (
        "T 8",
        "CUDA is more than three times faster than OpenCL.",
        "Table 2 gives 3.14, 2.75 and 3.63.",
        r"cuda is more than three times faster",
    ),
    (
        "T fig. 8-1",
        "CUDA is better in every type of memory copy.",
        "OpenCL is faster to the host and from it: 2303.3 and 2265.7 MB/s against 1949.0 and 1856.9.",
        r"better in every type of memory copy",
    ),
    # -- A -----------------------------------------------------------------------------------------------------------
    (
        "A 4.2",
        "The walk through the grid starts with a = N L / dl, b = c0 - g0 N L / dl.",
        "L and dl have changed places: N dl / L.",
        r"a = nl / delta l",
    ),
    (
        "A fig. 2",
        "signDir = sign(k) / l; vc = ceil(...), and the next border one unit further where the direction is positive.",
        "sign(k) l; floor(...), and the border is a voxel's edge, l, further.",
        r"signdir = sign\(k\) / l",
    ),
    (
        "A fig. 2",
        "r and k, of the ray, stand in the walk through the grid of an object.",
        "They are the ray's origin and direction in that grid, r_og and k_g.",
        r"nextts = \(vc .* - r\) / k",
    ),
    (
        "A fig. 2",
        "The loop never calls nextVoxel, and finished() ends before the last voxel is tested.",
        "The step belongs at the loop's end, the test of its end after the voxel's triangles.",
        r"while\(!finished\(\)\)",
    ),
    (
        "A 4.3",
        "The planes of a triangle's sides are scaled to A^2 + B^2 + C^2 = h^2.",
        "1 / h^2, for the product with a point to be its barycentric coordinate.",
        r"c\^2 = h\^2",
    ),
    (
        "A 4, 5",
        "Results are given in section 6, pictures in figures 4 to 7.",
        "They are in section 5, and there is no figure 7.",
        r"given in section 6|figures 4, 5, 6 and 7",
    ),
)

# What of these is no error but something left out: of a rule, a condition, a figure that is promised.
OMISSIONS = frozenset(
    (
        "Bunny Ray Cast is the bunny, in a grid of 98 x 64 x 163, with 0.82 shadings a ray.",
        "The listing of the intersector takes every hit with a triangle of the voxel.",
        "The text promises a range of frame rates.",
        "What complex scenes cost is discussed in 6.4.",
        "The refracted direction has no case for total reflection, and none for leaving a body.",
        "The hierarchy is split in the middle of the box, axes in turn.",
        "The box is tested by its near and far planes.",
        "The sphere and its plane are 10,000 triangles.",
    )
)
