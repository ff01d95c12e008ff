#pragma once
// Owners of what a C library hands out: std::unique_ptr with the library's own release.
#include <memory>

namespace cupel {

template <class T, void (*release)(T*)>
struct ReleasedBy {
  void operator()(T* thing) const { release(thing); }
};
template <class T, void (*release)(T*)>
using Owned = std::unique_ptr<T, ReleasedBy<T, release>>;

}  // namespace cupel
