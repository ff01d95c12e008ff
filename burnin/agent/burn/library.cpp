#include "burnin/agent/burn/library.h"

#include <dlfcn.h>
#include <unistd.h>

#include <array>

namespace cupel::burn {

std::string program_folder() {
  std::array<char, 4096> path{};
  const auto length = ::readlink("/proc/self/exe", path.data(), path.size());
  if (length <= 0) return ".";
  const std::string_view whole{path.data(), static_cast<std::size_t>(length)};
  return std::string{whole.substr(0, whole.rfind('/'))};
}

Outcome<Library> Library::open(std::span<const std::string_view> names, const Check& fits) {
  const std::array<std::string, 4> folders{"", program_folder() + "/lib/", "/usr/local/cuda/lib64/",
                                           "/usr/local/cuda/lib/"};
  std::string tried;
  for (const auto& folder : folders)
    for (const auto name : names) {
      const auto path = folder + std::string{name};
      Library library;
      library.handle_ = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
      library.name_ = path;
      std::string why;
      if (library.handle_ == nullptr) {
        const char* said = ::dlerror();
        why = said == nullptr ? "not found" : said;
      } else {
        const auto checked = fits ? fits(library) : done();
        if (checked) return library;
        why = checked.error().message;
      }
      tried += (tried.empty() ? "" : "; ") + why;
    }
  return Failure{.code = "no-library",
                 .message = "no " + std::string{names.front()} + ": " + tried};
}

Outcome<void*> Library::symbol(const char* name) const {
  void* found = ::dlsym(handle_, name);
  if (found == nullptr)
    return Failure{.code = "no-library",
                   .message = name_ + " has no " + name + ": too old for this cupel-burn"};
  return found;
}

}  // namespace cupel::burn
