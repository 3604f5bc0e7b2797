# Writes the source that holds the shipped customizations and the library of their scripts: cmake -DROOT=... -DFILES=a,b -DOUT=... -P this.
# FILES are paths below ROOT.

# Text that no customization contains, so that any text can stand between two of it.
set(mark "km_shipped_file")
set(entries "")
if(FILES)
  string(REPLACE "," ";" paths "${FILES}")
  list(SORT paths)
  foreach(path IN LISTS paths)
    file(READ "${ROOT}/${path}" text)
    if(text MATCHES "\\)${mark}\"")
      message(FATAL_ERROR "${path} contains )${mark}\"")
    endif()
    string(APPEND entries "      {\"${path}\", R\"${mark}(${text})${mark}\"},\n")
  endforeach()
endif()

file(READ "${ROOT}/karmada.lua" library)

file(WRITE "${OUT}" "// Made by cmake/EmbedShipped.cmake from lua/scripts.
#include \"interpreter/customized/shipped.h\"

namespace interpreter::customized {

const std::vector<ShippedFile>& ShippedFiles() {
  static const std::vector<ShippedFile> files = {
${entries}  };
  return files;
}

absl::string_view KarmadaLibrarySource() { return R\"${mark}(${library})${mark}\"; }

}  // namespace interpreter::customized
")
