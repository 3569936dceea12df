"""A few words or numbers by which each claim, error and wish of the report is looked up at the places that it names: a
regular expression, in small letters (``tests/reproduce/test_papers.py``)."""

from __future__ import annotations

ORACLE = r"once 20% of the rays require"
SECONDS = r"0\.8 ?s 0\.5 ?s 14\.9 ?s"  # of GLASS BALL in table 6.1

CLAIMS: dict[str, str] = {
    # -- D, chapters 4 and 5, and P2 ---------------------------------------------------------------------------------
    "Rays in other states are best masked off before their fragments run (early depth or stencil test).": (
        r"early-z occlusion culling discards|with an early fragment kill"
    ),
    "Set-up, step and intersection are kernels of some 20 to 40 four-wide instructions.": (
        r"setup 38 .*step 20 .*intersect 41 "
    ),
    "Traversal and intersection dominate the cost.": r"traversal and (triangle )?intersection( kernels dominate|\.)",
    "The grids' resolutions make traversal and intersection take equal time.": r"equal amounts of time",
    "SIMD's instructions per byte match the Radeon 9700 Pro's.": r"match.*radeon 9700 pro",
    "MIMD is limited by instructions, not by bandwidth.": r"severely compute.limited",
    "All of MIMD's bandwidth is for voxels and triangles.": r"all of the bandwidth required by the (mimd|branching)",
    "To intersect once 20 % of the rays wait needs the fewest passes of each view.": ORACLE,
    "As one rule for all views, it needs the fewest.": ORACLE,
    "With it passes are within two to three times the optimum.": r"factor of two to three",
    "Between 6 and 10 % of the rays are active in a pass, but for Soda Hall Outside.": r"between 6-10%",
    "A naive oracle needs at least five times the optimum.": r"at least a factor of five",
    "4 steps or 2 tests in a pass cut the bandwidth of every scene by half.": r"bandwidth usage by 50%",
    "With references suppressed it is 60 %.": r"reduction reaches 60%",
    "Instructions change little: they grow by less than 10 %.": r"increases by less than 10%",
    "Unrolled further, instructions of scenes differ by a factor of two or more.": r"by a factor of two or more",
    "However far unrolled, SIMD never has MIMD's instructions per byte.": r"does not achieve the compute",
    "A texture cache gains SIMD little and MIMD much (bytes, SIMD / MIMD).": r"does not benefit very much",
    "Triangle data alone hit in 96 to 99 % (SIMD / MIMD).": r"96-99% hit rate",
    "Shadow rays of MIMD gain 35 %. The paper does not say in which order they are traced.": r"35% bandwidth reduction",
    "Reflected rays of MIMD gain nothing.": r"reflective forest does not reduce",
    "Secondary rays of SIMD gain nothing.": r"texture cache is unable to reduce",
    "Tiles rendered to completion keep their temporaries in the cache.": r"tile is rendered to completion",
    "Each type of ray runs to its end before the next, so that set-up is one pass for each.": (
        r"called once for each type of ray|until all the rays are ready to shade"
    ),
    "The kernels of the ray caster fit into 27 to 59 instructions of the Radeon 9700 Pro.": r"eye ray 27 .*sect 59 ",
    "24-bit floats address too few texels for real scenes.": r"only 131,072 unique integer|131k triangles",
    "Some scenes that were looked at take 200 to 300 MB of textures.": r"200mb - 300mb",
    "Whitted's and path tracing cost 2.62, 3.24 times the instructions of ray casting.": (
        r"table 3 shows the number of instructions|caster 0\.85 1\.15"
    ),
    "Shadow casting, Whitted's and path tracing cost 1.15, 3.0, 4.06 times the bytes of ray casting.": (
        r"table 3 shows the number of instructions|caster 0\.85 1\.15"
    ),
    "A grid could be built on the chip, for scenes in motion.": r"scan convert",
    "SIMD's bandwidth is mostly for intermediate values, and then for states.": (
        r"most of its bandwidth for writing and reading intermediate values.*significant bandwidth is devoted"
    ),
    "A picture takes 1000 to 3000 passes.": r"varies between 1000-3000",
    "Its speed is comparable with that of fast tracers for processors.": (
        r"comparable speeds to|competitive with (the best known|current) cpu|comparable (to|with) .*cpu"
    ),
    "All acceleration structures are within a factor of two of each other.": r"within a factor of two of each other",
    # -- D, chapter 6, and P3 ----------------------------------------------------------------------------------------
    "Most of the time is spent on the radiance estimate.": r"majority of our render time is spent",
    "Very little time is spent on the intersection of rays.": r"very little time is spent on ray intersection",
    "That photons are taken over a larger radius costs no quality.": (
        r"not observed any degradation|quality does not seem to suffer"
    ),
    "Nearly 60 % of stencil routing is addresses.": r"nearly 60% of the cost of the stencil routing",
    "Over 72 % of binary search is addresses.": r"over 72%",
    "The estimates spend a third to a half on addresses and packing.": r"a third to a half",
    "At least 20 arithmetic operations for every texture access.": r"at least 20 arithmetic",
    "A bitonic sort of 1024 x 1024 photons takes 210 passes.": r"210 rendering passes",
    "Stencil routing keeps m^2 photons of a cell in one pass, m = 16.": r"m set to 16",
    "Reading photons back takes a tenth of the build for few photons, 60 % and more for many.": (
        r"about 10% of the photon map .*60% and more"
    ),
    "The search over the grid finds all photons in a sphere around the query.": r"all the photons within a sphere",
    "Stencil routing builds its map slower than the sort does.": SECONDS,
    "Stencil routing makes the radiance estimate shorter, to 52 to 71 % (derived).": SECONDS,
    "By sort GLASS BALL looks converged after a quarter of the time that it takes.": r"visually converge in 4 seconds",
    "By stencil routing it looks converged no sooner than it is.": r"saturation corresponds to convergence",
    "Drawing the estimate in tiles of 16 x 16 gains a factor of two to ten.": r"16 x 16 points|from two to ten",
    "A computation mask of single pixels would gain more than tiles.": r"single pixel granularity",
    "Light and geometry can be moved live: rebuilt and converged in one or two seconds.": r"only one or two seconds",
    "With a hash table of cells the redistribution of power is no longer trivial.": r"redistribution becomes non-tr",
    "Scaled by what came over what is kept, photons of a full cell keep their power.": r"scale the power of the stored",
    # -- T and A -----------------------------------------------------------------------------------------------------
    "Boxes are halved on x, y and z in turn until a primitive is left.": r"median point",
    "A ray is tested against a box by its near and far planes.": r"tx min = ",
    "After a leaf its neighbour is next, so that a leaf needs no escape index.": r"leaves do not need to store any esc",
    "A rigid motion of an object changes the upper level alone.": r"update for the first bvh only",
    "Any structure may be the lower level.": r"bvh of kd-trees",
    "Refracted rays are those of Snell's law.": r"snell's law",
    "Weights carried by rays take the place of recursion.": r"recursion could be avoided|w = w_p",
    "A white ray that is refracted becomes three, one for each channel, and a channel's ray stays one.": (
        r"originates three refracted rays"
    ),
    "Of textures in turn the last that replaces hides those before it.": r"order of textures is import|multi-texture",
    "The kernels run many times faster in parallel than one after the other.": r"sphere 17\.9 s 1\.93 s",
    "On the CPU the recursion takes longer than the kernels one after the other.": (
        r"much faster than the original cpu|sphere 17\.9 s 1\.93 s"
    ),
    "CUDA is more than three times faster than OpenCL.": r"cuda is more than three times faster",
    "CUDA is better in every type of memory copy.": r"better in every type of memory copy",
    "Scenes of 1,676 to 33,404 triangles are ray traced at 5.8 to 16 frames a second, 512 x 512.": (
        r"33404 .*balls-1 5\.8 knife 16 .*512x512"
    ),
    "The overhead of two levels is offset by the quality of their grids.": r"completely offset by the quality",
    "Objects that move cost little.": r"does not affect significantly the performance",
    "A single pass saves memory bandwidth.": r"pays off in terms of memory bandwidth",
    "Colours of vertices cost no speed.": r"no performance costs",
    "A conditional around the triangle's test gains about 10 %.": r"about 10% additional performance",
}

# By what stands there, in the words of `faults`.
ERRORS: dict[str, str] = {
    "By the caption the columns of state reads and writes are the MIMD architecture's.": (
        r"for the mimd architecture, we also show"
    ),
    "Two 4-vector outputs, 8 words, are what the architecture writes; Step, Reflected and Path write 9 words.": (
        r"two floating point 4-vector outputs|step 20 14 9 "
    ),
    "MIMD runs all kernels in one pass, yet Setup reads 7 words and Eye Ray writes 4.": r"setup 38 11 12 0 1 0 22 7 ",
    "The grids' resolutions spend equal amounts of time in traversal and intersection.": r"equal amounts of time",
    "Instructions for each byte of the SIMD architecture match those of the Radeon 9700 Pro, 0.208.": (
        r"match.*radeon 9700 pro"
    ),
    "Bunny Ray Cast is the bunny, in a grid of 98 x 64 x 163, with 0.82 shadings a ray.": r"98 x 64 x 163",
    "The forest has millions of triangles.": r"millions of tiny triangles",
    "With the 20 % rule the number of passes is within two to three times the optimum.": r"factor of two to three",
    "Shares of active rays of 0.9, 6.1, 6.2, 6.8 and 10.5 %.": r"outside .*0?\.0?0?9.*10\.?5",
    "All of the MIMD architecture's bandwidth is for voxel and triangle data.": r"all of the bandwidth required by the",
    "The listing of the intersector takes every hit with a triangle of the voxel.": r"select\( ?validhit",
    "A direct-mapped cache of 64 kB has lines of 48 bytes.": r"64 ?kb direct-mapped texture cache",
    "100 million ray-triangle tests a second at the peak.": r"peak rate of 100m",
    "300 thousand to 4 million rays a second.": r"between 300k and 4m rays",
    "The text promises a range of frame rates.": r"range of observed rates",
    "The path tracer takes 64 samples a pixel and two bounces, at 3.24 times the instructions of ray casting.": (
        r"64 samples and 2 bounces"
    ),
    "222 million tests a second, by 8 G instructions, do not use all of 8 GB/s.": r"222m ray-triangle",
    "A stencil buffer of 1024 x 1024 with m = 16 leaves 65,536 grid cells.": r"m set to 16, leaving",
    "m = 16 with a stencil that always increments routes 256 photons of a cell to 256 texels.": r"always increment",
    "By the caption four photons are wanted. Of the two that are rejected one is because the estimate has them, after "
    "2 + 1; the other is beyond the maximum radius.": r"four photons are desired",
    "Tiles gain a factor of two to ten.": r"from two to ten",
    "At least 20 arithmetic operations for every access to a texture.": r"at least 20 arithmetic",
    "The interactive window is of 160 x 160 pixels (P3).": r"160 ?x ?160 window|256 x 256 window",
    "What complex scenes cost is discussed in 6.4.": r"performance impact of complex scenes",
    "The search through the cells finds all photons in a sphere around the query.": r"all the photons within a sphere",
    "The reflected direction is r = d + 2 a, with a = (d . n) n / |n|^2.": r"r = d \+ 2",
    "The refracted direction has no case for total reflection, and none for leaving a body.": r"equation 6\.30",
    "The hierarchy is split in the middle of the box, axes in turn.": r"median point",
    "The box is tested by its near and far planes.": r"tx min = ",
    "A leaf is told by an empty box at the origin.": r"if the bounding box is empty",
    "The equations for barycentric coordinates are of x, x and x.": r"mathbfo_x \+ tmathbfd_x",
    "The sphere and its plane are 10,000 triangles.": r"10 000 triangles",
    "CUDA is more than three times faster than OpenCL.": r"cuda is more than three times faster",
    "CUDA is better in every type of memory copy.": r"better in every type of memory copy",
    "The walk through the grid starts with a = N L / dl, b = c0 - g0 N L / dl.": r"a = nl / delta l",
    "signDir = sign(k) / l, vc = ceil(...), and the next border without regard to the direction's sign.": (
        r"signdir = sign\(k\) / l"
    ),
    "r and k, of the ray, stand in the walk through the grid of an object.": r"nextts = \(vc .* - r\) / k",
    "The loop never calls nextVoxel, and finished() ends before the last voxel is tested.": r"while\(!finished\(\)\)",
    "The planes of a triangle's sides are scaled to A^2 + B^2 + C^2 = h^2.": r"c\^2 = h\^2",
    "Results are given in section 6, pictures in figures 4 to 7.": r"given in section 6|figures 4, 5, 6 and 7",
}

WISHES: dict[str, str] = {
    "Scatter: writes to addresses that a kernel works out.": r"scatter",
    "A grid built by the graphics processor, anew for each frame.": r"acceleration structures?\)|scan convert",
    "Hierarchical grids.": r"hierarchical grids could be added",
    "Geometry cached hierarchically where it does not fit into memory (out of core).": (
        r"hierarchical caching of the geometry|fit in graphics card memory"
    ),
    "F-buffer: results of fragments kept in their order instead of in pixels.": r"f-buffers",
    "A rasteriser that walks the grid.": r"modify the rasterizer to walk",
    "Conditional streams and a stream buffer on the chip.": r"stream buffer",
    "Tiles rendered to completion, so that temporaries stay in a cache.": r"tile is rendered to completion",
    "Coherence of reflected rays.": r"coherence of reflected rays",
    "Mailboxing: no triangle tested twice by a ray.": r"mailboxing is difficult",
    "Integers and operations on bits, for more texels and a smaller grid.": r"bit operations",
    "No read-back: the vertex program fetches photons itself.": r"eliminate the need for readback",
    "Several outputs of a kernel, so that nothing has to be packed.": r"multiple outputs would remove the need",
    "A computation mask of single pixels.": r"computation mask",
    "A hash table of cells in place of the dense grid.": r"hash table based on their grid cell",
    "Final gather by distributed rays.": r"final gather approach",
    "Irradiance gradients, to interpolate between few samples.": r"irradiance gradients",
    "Adaptive sampling, with a tenth of the samples.": r"factor of 10",
    "Debuggers and profilers for stream programs.": r"debuggers, and code profilers",
    "One source for several machines.": r"recompil",
    "Dynamic scenes on two levels.": r"two-layered acceleration structure",
    "Monte Carlo methods and BRDFs.": r"monte carlo ray tracing and brdf",
    "Spheres and NURBS as primitives.": r"spheres or even nurbs",
    "Leaves of several primitives.": r"groups of primitives as leaves",
    "Four rays at once (packets).": r"tracing 4 rays simultaneously",
    "Hybrid: the pipeline finds first hits, rays do shadows and reflections.": r"hybrid",
    "A single ray cast in a pass; code of its own for shadow rays.": r"separate code for tracing shadow rays",
    "Two boards with load balancing.": r"load balancing between 2",
    "A library that allocates textures.": r"in a separate library",
}
