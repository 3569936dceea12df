"""A few words or numbers by which each claim of the report is looked up at the places that it names: a regular
expression, in small letters (``tests/reproduce/test_papers.py``). Errors and wishes have theirs with them."""

from __future__ import annotations

ORACLE = r"once 20% of the rays require"
SECONDS = r"0\.8 ?s 0\.5 ?s 14\.9 ?s"  # of GLASS BALL in table 6.1

CLAIMS: dict[str, str] = {
    # -- D, chapters 4 and 5, and P2 ---------------------------------------------------------------------------------
    "Rays in other states are best masked off before their fragments run (early depth or stencil test).": (
        r"early-z occlusion culling discards|with an early fragment kill"
    ),
    "Eye rays, set-up, step and intersection are kernels of some 20 to 40 four-wide instructions.": (
        r"setup 38 .*step 20 .*intersect 41 "
    ),
    "Traversal and intersection dominate the cost.": r"traversal and (triangle )?intersection( kernels dominate|\.)",
    "The grids' resolutions make traversal and intersection take equal time.": r"equal amounts of time",
    "SIMD's instructions per byte match the Radeon 9700 Pro's.": r"match.*radeon 9700 pro",
    "MIMD is limited by instructions, not by bandwidth.": r"severely compute.limited",
    "All of MIMD's bandwidth is for voxels and triangles.": r"all of the bandwidth required by the (mimd|branching)",
    "To intersect once 20 % of the rays wait needs the fewest passes.": ORACLE,
    "With it passes are within two to three times the optimum.": r"factor of two to three",
    "Between 6 and 10 % of the rays are active in a pass, but for Soda Hall Outside.": r"between 6-10%",
    "A naive oracle needs at least five times the optimum.": r"at least a factor of five",
    "4 steps or 2 tests in a pass cut the bandwidth of every scene by half.": r"bandwidth usage by 50%",
    "With references suppressed it is 60 %.": r"reduction reaches 60%",
    "Instructions change little: they grow by less than 10 %.": r"increases by less than 10%",
    "Unrolled further, instructions of scenes differ by a factor of two or more.": r"by a factor of two or more",
    "However far unrolled, SIMD never has MIMD's instructions per byte.": r"does not achieve the compute",
    "SIMD does not benefit very much from a texture cache, MIMD uses it effectively (bytes, SIMD / MIMD).": (
        r"does not benefit very much.* utilizes the texture cache effectively"
    ),
    "Triangle data alone hit in 96 to 99 % (SIMD / MIMD).": r"96-99% hit rate",
    "A cache saves 35 % of the bytes of MIMD's shadow rays.": r"35% bandwidth reduction",
    "A cache saves nothing of the bytes of MIMD's reflected rays.": r"reflective forest does not reduce",
    "A cache saves nothing of the bytes of SIMD's secondary rays.": r"texture cache is unable to reduce",
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
    "Most of SIMD's bandwidth is for intermediate values, and a significant part for states.": (
        r"most of its bandwidth for writing and reading intermediate values.*significant bandwidth is devoted"
    ),
    "A picture takes 1000 to 3000 passes.": r"varies between 1000-3000",
    "GPU ray tracing is, or will soon be, as fast as good CPU ray tracers.": (
        r"outperform cpu-based|be faster than cpu|comparable speeds to|competitive with .{0,20}cpu|comparable .*cpu"
    ),
    "All acceleration structures are within a factor of two of each other.": r"within a factor of two of each other",
    # -- D, chapter 6, and P3 ----------------------------------------------------------------------------------------
    "Most of the time is spent on the radiance estimate.": r"majority of our render time is spent",
    "Very little time is spent on the intersection of rays.": r"very little time is spent on ray intersection",
    "A larger search radius does not reduce quality.": (
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
    "Irradiance gradients reduce the cost of the rays that gather light.": r"irradiance gradients",
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
    "Tracing ends by a greatest depth or by a least intensity.": r"a minimum intensity at which no further tracing",
    "The overhead of two levels is offset by the quality of their grids.": r"completely offset by the quality",
    "Objects that move cost little.": r"does not affect significantly the performance",
    "A single pass saves memory bandwidth.": r"pays off in terms of memory bandwidth",
    "Vertex colours do not slow rendering.": r"no performance costs",
    "A conditional around the triangle's test gains about 10 %.": r"about 10% additional performance",
}
