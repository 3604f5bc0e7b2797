# km_embed_shipped(<folder>): adds to the folder's library the source that holds every
# lua/scripts/**/customizations.yaml and lua/scripts/karmada.lua. It is made anew when one of them
# changes, comes or goes.
function(km_embed_shipped folder)
  km_target_name(target ${folder})
  set(root ${CMAKE_SOURCE_DIR}/lua/scripts)
  file(GLOB_RECURSE files RELATIVE ${root} CONFIGURE_DEPENDS ${root}/customizations.yaml)
  set(paths ${files})
  list(TRANSFORM paths PREPEND ${root}/)
  list(JOIN files "," names)
  set(out ${CMAKE_BINARY_DIR}/generated/shipped_files.cc)
  set(script ${CMAKE_SOURCE_DIR}/cmake/EmbedShipped.cmake)
  add_custom_command(OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -DROOT=${root} -DFILES=${names} -DOUT=${out} -P ${script}
    DEPENDS ${paths} ${root}/karmada.lua ${script} COMMENT "Embedding the shipped customizations" VERBATIM)
  target_sources(${target} PRIVATE ${out})
endfunction()
