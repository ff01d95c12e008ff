#pragma once
// Work of a stand-in library on a stream of the stand-in driver (driver/), or at once where there
// is none.
#include <dlfcn.h>

#include <functional>

namespace cupel::burn::fake {

/// `what`: by which name the driver's faults know it; `result`: where one shows.
/// The driver's own declaration of what is called here has types of other names: UBSan would ask.
__attribute__((no_sanitize("function"))) inline int on_stream(void* stream, const char* what,
                                                              void* result,
                                                              std::function<void()> work) {
  using Put = int (*)(void*, const char*, void*, void (*)(void*), void (*)(void*), void*);
  static void* const driver = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  static const auto put =
      reinterpret_cast<Put>(driver == nullptr ? nullptr : ::dlsym(driver, "fake_on_stream"));
  if (stream == nullptr || put == nullptr) {
    work();
    return 0;
  }
  using Work = std::function<void()>;
  const auto run = [](void* data) { (*static_cast<Work*>(data))(); };
  const auto drop = [](void* data) { delete static_cast<Work*>(data); };
  return put(stream, what, result, run, drop, new Work{std::move(work)});
}

}  // namespace cupel::burn::fake
