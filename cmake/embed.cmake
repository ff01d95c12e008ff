# Writes inventory's shipped_files() from the YAML files that the binary carries. Run at build time as
#   cmake -DROOT=... -DOUT=... -DFILES=a;b -P embed.cmake
# A raw string literal may hold 65,535 bytes at most in the standard; ours are far smaller.
set(entries "")
foreach(file IN LISTS FILES)
  file(READ "${ROOT}/${file}" text)
  string(APPEND entries "    {\"${file}\", R\"~yaml~(${text})~yaml~\"},\n")
endforeach()
file(WRITE "${OUT}" "// Written by cmake/embed.cmake.
#include \"inventory/shipped.h\"

namespace cupel::inventory {
namespace {
constexpr ShippedFile kFiles[] = {
${entries}};
}  // namespace

std::span<const ShippedFile> shipped_files() { return kFiles; }

}  // namespace cupel::inventory
")
