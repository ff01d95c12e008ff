#include "burnin/agent/common/shared_library.h"

#include <dlfcn.h>

#include "burnin/agent/common/small_file.h"

namespace cupel::agent {

std::string program_folder() {
  const auto program = link_target("/proc/self/exe");
  if (!program) return ".";
  return program->substr(0, program->rfind('/'));
}

Result<SharedLibrary> SharedLibrary::open(std::span<const std::string> candidates,
                                          const Check& fits) {
  std::string tried;
  const auto note = [&tried](std::string_view why) {
    tried += (tried.empty() ? "" : "; ") + std::string{why};
  };
  for (const auto& path : candidates) {
    void* handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      const char* why = ::dlerror();
      note(why == nullptr ? path + ": cannot be opened" : why);
      continue;
    }
    SharedLibrary library{handle, path};
    const auto checked = fits ? fits(library) : ok();
    if (checked) return library;
    note(checked.error().what);
    ::dlclose(handle);
  }
  return Error{Code::kNotFound, std::move(tried)};
}

void* SharedLibrary::find(const char* name) const { return ::dlsym(handle_, name); }

Result<void*> SharedLibrary::symbol(const char* name) const {
  void* found = find(name);
  if (found == nullptr)
    return Error{Code::kUnsupported, path_ + " has no " + name + ": too old for this program"};
  return found;
}

}  // namespace cupel::agent
