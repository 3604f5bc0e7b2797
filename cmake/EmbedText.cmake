# km_embed_text(<folder> <file> <header> <function>): adds to the folder's library the source of a function of that header, in the
# namespace that the folder's path spells, which returns the file's text. It is made again when the file changes.
#
# As a script (cmake -DFILE=... -DHEADER=... -DNAMESPACE=... -DFUNCTION=... -DOUT=... -P this) it writes the source.

if(CMAKE_SCRIPT_MODE_FILE)
  set(mark "km_text")  # No file contains it behind a parenthesis and before a quote.
  file(READ "${FILE}" text)
  if(text MATCHES "\\)${mark}\"")
    message(FATAL_ERROR "${FILE} contains )${mark}\"")
  endif()
  file(WRITE "${OUT}" "// Made by cmake/EmbedText.cmake.
#include \"${HEADER}\"

namespace ${NAMESPACE} {

absl::string_view ${FUNCTION}() { return R\"${mark}(${text})${mark}\"; }

}  // namespace ${NAMESPACE}
")
  return()
endif()

function(km_embed_text folder file header function)
  km_target_name(target ${folder})
  string(REPLACE "/" "::" namespace ${folder})
  string(REPLACE "/" "_" name ${file})
  set(out ${CMAKE_BINARY_DIR}/generated/${name}.cc)
  set(script ${CMAKE_SOURCE_DIR}/cmake/EmbedText.cmake)
  add_custom_command(OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -DFILE=${CMAKE_SOURCE_DIR}/${file} -DHEADER=${header} -DNAMESPACE=${namespace} -DFUNCTION=${function}
            -DOUT=${out} -P ${script}
    DEPENDS ${CMAKE_SOURCE_DIR}/${file} ${script} COMMENT "Embedding ${file}" VERBATIM)
  target_sources(${target} PRIVATE ${out})
endfunction()
