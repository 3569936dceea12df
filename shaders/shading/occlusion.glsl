// How far occlusion looks: float occlusion_distance, scene units.
