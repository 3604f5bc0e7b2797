# km_embed_shipped(<folder>): adds to the folder's library the source that holds every
# lua/scripts/**/customizations.yaml and lua/scripts/karmada.lua. A program of the build writes it,
# again when one of them changes, comes or goes.
function(km_embed_shipped folder)
  km_target_name(target ${folder})
  set(root ${CMAKE_SOURCE_DIR}/lua/scripts)
  file(GLOB_RECURSE files RELATIVE ${root} CONFIGURE_DEPENDS ${root}/customizations.yaml)
  set(paths ${files})
  list(TRANSFORM paths PREPEND ${root}/)
  set(out ${CMAKE_BINARY_DIR}/generated/shipped_files.cc)
  add_executable(embed_shipped ${CMAKE_SOURCE_DIR}/cmake/embed_shipped.cc)
  km_program(embed_shipped)
  target_link_libraries(embed_shipped PRIVATE km_base)
  set_target_properties(embed_shipped PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/generated)
  add_custom_command(OUTPUT ${out}
    COMMAND embed_shipped ${out} ${root} ${files}
    DEPENDS embed_shipped ${paths} ${root}/karmada.lua COMMENT "Embedding the shipped customizations" VERBATIM)
  target_sources(${target} PRIVATE ${out})
endfunction()
