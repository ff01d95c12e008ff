#include "rehearsal/tools/cuda_libraries.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>

namespace cupel::rehearsal {
namespace {

namespace json = boost::json;

struct CudaLibrary {
  std::string_view name, file, version;
  std::array<std::string_view, 2> needed_by;
};

constexpr std::array<CudaLibrary, 2> kLibraries{
    {{"libcublasLt", "libcublasLt.so.13", "13.1.0", {"gemm", "train"}},
     {"libnccl", "libnccl.so.2", "2.27.7", {"collective", "train"}}}};
constexpr std::array<std::string_view, 2> kFolders{"/usr/lib/x86_64-linux-gnu/",
                                                   "/opt/cupel/bin/lib/"};

std::string path_of(Process& process, const CudaLibrary& library) {
  for (const auto folder : kFolders) {
    const auto path = std::string{folder} + std::string{library.file};
    if (process.disk().find(path)) return path;
  }
  return {};
}

std::string why_missing(const CudaLibrary& library) {
  return "no " + std::string{library.file} + ": " + std::string{library.file} +
         ": cannot open shared object file: No such file or directory";
}

}  // namespace

void plant_cuda_libraries(FileSystem& disk) {
  for (const auto& library : kLibraries)
    disk.put(std::string{kFolders[0]} + std::string{library.file}, "");
}

std::string library_lines(Process& process) {
  std::string text;
  for (const auto& library : kLibraries) {
    const auto path = path_of(process, library);
    json::object line{{"kind", "library"}, {"name", library.name}, {"fits", !path.empty()}};
    if (path.empty()) {
      line["why"] = why_missing(library);
    } else {
      line["path"] = path;
      line["version"] = library.version;
    }
    text += json::serialize(line) + "\n";
  }
  return text;
}

std::string missing_library(Process& process, std::string_view command) {
  for (const auto& library : kLibraries)
    if (std::ranges::find(library.needed_by, command) != library.needed_by.end() &&
        path_of(process, library).empty())
      return why_missing(library);
  return {};
}

}  // namespace cupel::rehearsal
