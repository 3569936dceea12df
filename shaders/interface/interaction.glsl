// What a path meets, as the scene's surfaces need it (viewer/materials/surface_features.py).

// Outside of the scene: nothing but wo is of meaning.
Interaction interaction_nowhere(vec3 wo);

// BSDF_LAMBERT and so on.
int interaction_kind(Interaction at);

// Where textures of the second coordinates are looked up, of glTF's materials.
vec3 interaction_uv_1(Interaction at);

// Address of the material; 0 where no kind asks for it.
int interaction_material(Interaction at);

// Keep these, where some kind asks for them; the material's once, behind the kind.
void set_interaction_uv_1(inout Interaction at, vec3 uv_1);
void set_interaction_place(inout Interaction at, vec3 place, vec4 tangent);
void set_interaction_parameters(inout Interaction at, float parameter, float specular, float reflectivity);
void set_interaction_material(inout Interaction at, int material);
