"""What the authors wished for: (where, wish, what became of it in the field with a source, what this project does, and
the words by which it is looked up, as in `quotations`).

Authors, titles, years and venues of all papers were checked against public bibliographies in November 2026; dates of
extensions and products are their specifications' and makers'.
"""

from __future__ import annotations

WISHES: tuple[tuple[str, str, str, str, str], ...] = (
    (
        "D 2.3.2, P2 5.1",
        "Scatter: writes to addresses that a kernel works out.",
        "CUDA (2007) and DirectX 11 (2009) have it; OpenGL since 4.2 (2011, ARB_shader_image_load_store).",
        "OpenGL 3.3 alone: points that a vertex program places, and gathers after a sort.",
        r"scatter",
    ),
    (
        "D 2.3.2, P2 5.1",
        "A grid built by the graphics processor, anew for each frame.",
        "J. Kalojanov, P. Slusallek, A Parallel Algorithm for Construction of Uniform Grids, High Performance Graphics "
        "2009; M. Schwarz, H.-P. Seidel, Fast Parallel Surface and Solid Voxelization on GPUs, ACM Transactions on "
        "Graphics 29 (6), 2010.",
        "Done: --rebuild device-grid (section A grid built on the chip), whole for each frame; a grid is not updated "
        "in "
        "parts.",
        r"acceleration structures?\)|scan convert",
    ),
    (
        "P2 5.1",
        "Hierarchical grids.",
        "J. Kalojanov, M. Billeter, P. Slusallek, Two-Level Grids for Ray Tracing on GPUs, Computer Graphics Forum 30 "
        "(2), 2011; trees of boxes have displaced grids since (T. Aila, S. Laine, Understanding the Efficiency of Ray "
        "Traversal on GPUs, High Performance Graphics 2009).",
        "Done: --accel two-level-grid; trees of boxes are the default.",
        r"hierarchical grids could be added",
    ),
    (
        "P2 5.1, T 8.1",
        "Geometry cached hierarchically where it does not fit into memory (out of core).",
        "I. Wald, A. Dietrich, P. Slusallek, An Interactive Out-of-Core Rendering Framework for Visualizing Massively "
        "Complex Models, Eurographics Symposium on Rendering 2004; B. Budge et al., Out-of-core Data Management for "
        "Path Tracing on Hybrid Resources, Computer Graphics Forum 28 (2), 2009.",
        "Not of triangles: a scene has to fit into the device's textures.",
        r"hierarchical caching of the geometry|fit in graphics card memory",
    ),
    (
        "P2 5.2",
        "F-buffer: results of fragments kept in their order instead of in pixels.",
        "W. R. Mark, K. Proudfoot, The F-Buffer: A Rasterization-Order FIFO Buffer for Multi-Pass Rendering, Graphics "
        "Hardware 2001; built into boards of 2003 and little used; append buffers came with DirectX 11 (2009).",
        "Not done: streams have a place for each ray. Photons are brought together by transform feedback.",
        r"f-buffers",
    ),
    (
        "P2 5.2",
        "A rasteriser that walks the grid.",
        "Units for traversal and intersection in hardware: S. Woop, J. Schmittler, P. Slusallek, RPU: A Programmable "
        "Ray Processing Unit for Realtime Ray Tracing, ACM Transactions on Graphics 24 (3), 2005; boards for all since "
        "NVIDIA's Turing, 2018.",
        "Not used: fragment programs of OpenGL 3.3 walk.",
        r"modify the rasterizer to walk",
    ),
    (
        "D 5.2, 5.4.2, P2 5.2",
        "Conditional streams and a stream buffer on the chip.",
        "The idea is older than the wish: U. J. Kapasi et al., Efficient Conditional Operations for Data-parallel "
        "Architectures, MICRO 33, 2000. In software as compacted queues: S. Laine, T. Karras, T. Aila, Megakernels "
        "Considered Harmful: Wavefront Path Tracing on GPUs, High Performance Graphics 2013.",
        "Simulated (section The cost model, and The simulated machines). No machine with a queue for each state runs "
        "here: "
        "it wants compute shaders, which OpenGL 3.3 has not.",
        r"stream buffer",
    ),
    (
        "P2 5.3",
        "Tiles rendered to completion, so that temporaries stay in a cache.",
        "Tile-based processors of mobile devices keep a tile's buffers on the chip, where programs reach them by the "
        "OpenGL ES extension EXT_shader_pixel_local_storage.",
        "Simulated (section Texture cache): bytes fall to a few percent.",
        r"tile is rendered to completion",
    ),
    (
        "D 5.2.3",
        "Coherence of reflected rays.",
        "K. Garanzha, C. Loop, Fast Ray Sorting and Breadth-First Packet Traversal for GPU Ray Tracing, Computer "
        "Graphics Forum 29 (2), 2010; reordering by the hardware since 2022 (NVIDIA, Shader Execution Reordering).",
        "Simulated: rays sorted by direction and origin (section Texture cache).",
        r"coherence of reflected rays",
    ),
    (
        "D 3.3.3, P2 3.1.3",
        "Mailboxing: no triangle tested twice by a ray.",
        "J. Amanatides, A. Woo, A Fast Voxel Traversal Algorithm for Ray Tracing, Eurographics 1987, has it for grids; "
        "in trees of boxes, where each triangle stands once, it is not needed (I. Wald, S. Boulos, P. Shirley, Ray "
        "Tracing Deformable Scenes Using Dynamic Bounding Volume Hierarchies, ACM Transactions on Graphics 26 (1), "
        "2007).",
        "In the grid over instances, of one entry; not in the grid over triangles.",
        r"mailboxing is difficult",
    ),
    (
        "D 5.4.1",
        "Integers and operations on bits, for more texels and a smaller grid.",
        "EXT_gpu_shader4 (2006) and OpenGL 3.0 (2008); bits for children: S. Laine, T. Karras, Efficient Sparse Voxel "
        "Octrees: Analysis, Extensions, and Implementation, NVIDIA technical report NVR-2010-001, 2010.",
        "Integers throughout; --limits 2004 shows the day without them. The grid has blocks behind a table of tiles.",
        r"bit operations",
    ),
    (
        "D 6.4.2, P3 4.2",
        "No read-back: the vertex program fetches photons itself.",
        "Textures in vertex programs since 2004 (Shader Model 3.0); transform feedback since OpenGL 3.0 (2008).",
        "Done, and the read-back beside it: --photon-points fetch or read-back.",
        r"eliminate the need for readback",
    ),
    (
        "D 6.4.1, P3 4.1",
        "Several outputs of a kernel, so that nothing has to be packed.",
        "ARB_draw_buffers, in OpenGL 2.0 (2004).",
        "Done: no instruction of packing is left (table 6.2).",
        r"multiple outputs would remove the need",
    ),
    (
        "D 6.4.3, P3 4.3",
        "A computation mask of single pixels.",
        "Branches that skip work, since Shader Model 3.0 (2004), for groups of pixels; early depth tests of single "
        "ones.",
        "Done: --mask depth, stencil, tiles, compared in two sections.",
        r"computation mask",
    ),
    (
        "D 6.4.4, P3 4.4",
        "A hash table of cells in place of the dense grid.",
        "M. Teschner et al., Optimized Spatial Hashing for Collision Detection of Deformable Objects, Vision, "
        "Modeling, and Visualization 2003; for photons T. Hachisuka, H. W. Jensen, Parallel Progressive Photon Mapping "
        "on GPUs, SIGGRAPH Asia 2010 (sketch).",
        "Done for the progressive estimate: a hashed grid. Redistribution is simulated (section A hash table of "
        "cells).",
        r"hash table based on their grid cell",
    ),
    (
        "D 6.4.5, P3 4.5",
        "Final gather by distributed rays.",
        "R. Wang et al., An Efficient GPU-based Approach for Interactive Global Illumination, ACM Transactions on "
        "Graphics 28 (3), 2009.",
        "Done: --final-gather N.",
        r"final gather approach",
    ),
    (
        "D 6.4.5, P3 4.5",
        "Irradiance gradients, to interpolate between few samples.",
        "After G. J. Ward, P. S. Heckbert, Irradiance Gradients, Eurographics Workshop on Rendering 1992: W. Jarosz, "
        "M. Zwicker, H. W. Jensen, Irradiance Gradients in the Presence of Participating Media and Occlusions, "
        "Computer Graphics Forum 27 (4), 2008; J. Schwarzhaupt, H. W. Jensen, W. Jarosz, Practical Hessian-Based Error "
        "Control for Irradiance Caching, ACM Transactions on Graphics 31 (6), 2012.",
        "Studied on the Cornell box (section Irradiance gradients): records with them, by rays of this program. "
        "Pictures are made without.",
        r"irradiance gradients",
    ),
    (
        "D 6.4.5, P3 4.5",
        "Adaptive sampling, with a tenth of the samples.",
        "M. Zwicker et al., Recent Advances in Adaptive Sampling and Reconstruction for Monte Carlo Rendering, "
        "Computer Graphics Forum 34 (2), 2015.",
        "Done for path tracing: --adaptive, for the same error in {gains} times less CPU time, by scene and error "
        "(tools/results). Not by interpolation from a low resolution.",
        r"factor of 10",
    ),
    (
        "D 8.2",
        "Debuggers and profilers for stream programs.",
        "RenderDoc (B. Karlsson, 2014) and the makers' own tools record frames and step through shaders.",
        "The inspector shows every stream after every pass, and the history of a ray.",
        r"debuggers, and code profilers",
    ),
    (
        "D 2.1.2, 2.2",
        "One source for several machines.",
        "I. Buck et al., Brook for GPUs: Stream Computing on Graphics Hardware, ACM Transactions on Graphics 23 (3), "
        "2004; CUDA (2007), OpenCL (2008), SYCL (2015).",
        "One program, run a kernel per pass or as a single pass, at any stage of fusion.",
        r"recompil",
    ),
    (
        "T 8.1",
        "Dynamic scenes on two levels.",
        "I. Wald, C. Benthin, P. Slusallek, Distributed Interactive Ray Tracing of Dynamic Scenes, IEEE Symposium on "
        "Parallel and Large-Data Visualization and Graphics 2003; the two levels of DirectX Raytracing (2018) and "
        "Vulkan (2020).",
        "Done: --accel two-level-bvh, moving instances, meshes that deform; T had the structure, and no scene moved "
        "yet "
        "(its note 28).",
        r"two-layered acceleration structure",
    ),
    (
        "T 8.1",
        "Monte Carlo methods and BRDFs.",
        "M. Pharr, W. Jakob, G. Humphreys, Physically Based Rendering, fourth edition, MIT Press 2023, runs on "
        "graphics processors.",
        "Done: the path tracer, with multiple importance sampling.",
        r"monte carlo ray tracing and brdf",
    ),
    (
        "T 8.1",
        "Spheres and NURBS as primitives.",
        "O. Abert, M. Geimer, S. Mueller, Direct and Fast Ray Tracing of NURBS Surfaces, IEEE Symposium on Interactive "
        "Ray Tracing 2006; intersection programs of DirectX Raytracing, 2018.",
        "Spheres and other quadrics; no NURBS.",
        r"spheres or even nurbs",
    ),
    (
        "T 8.1",
        "Leaves of several primitives.",
        "The rule in trees built by the surface area heuristic: I. Wald, On Fast Construction of SAH-based Bounding "
        "Volume Hierarchies, IEEE Symposium on Interactive Ray Tracing 2007.",
        "Done.",
        r"groups of primitives as leaves",
    ),
    (
        "A 6",
        "Four rays at once (packets).",
        "I. Wald, P. Slusallek, C. Benthin, M. Wagner, Interactive Rendering with Coherent Ray Tracing, Computer "
        "Graphics Forum 20 (3), 2001; on graphics processors the warp does it (T. Aila, S. Laine, 2009, as above).",
        "Simulated: what packets of four fetch and test (section Classical ray tracing of seven scenes).",
        r"tracing 4 rays simultaneously",
    ),
    (
        "A 6, D 5.3, P2 3.1.4",
        "Hybrid: the pipeline finds first hits, rays do shadows and reflections.",
        "C. Barre-Brisebois et al., Hybrid Rendering for Real-Time Ray Tracing, in Ray Tracing Gems, Apress 2019.",
        "Done: --first-hits raster.",
        r"hybrid",
    ),
    (
        "A 6",
        "A single ray cast in a pass; code of its own for shadow rays.",
        "Queues by kind of work: S. Laine, T. Karras, T. Aila, 2013, as above.",
        "Done: --fuse ray. Shadow rays have no code of their own: one walk serves all rays, and ends with the first "
        "hit "
        "of those that ask for any.",
        r"separate code for tracing shadow rays",
    ),
    (
        "A 6",
        "Two boards with load balancing.",
        "Renderers split pictures or samples among boards (S. G. Parker et al., OptiX: A General Purpose Ray Tracing "
        "Engine, ACM Transactions on Graphics 29 (4), 2010).",
        "Tiles and samples are shared among processes of several machines; not among boards of one process.",
        r"load balancing between 2",
    ),
    (
        "A 4.1",
        "A library that allocates textures.",
        "Vulkan Memory Allocator (AMD, 2017 and after) and the like.",
        "An own arena of textures for streams and memories.",
        r"in a separate library",
    ),
)
