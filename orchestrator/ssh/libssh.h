#pragma once
// libssh's handles with owners. Nothing outside this folder includes libssh.
#include <libssh/callbacks.h>
#include <libssh/libssh.h>

#include <memory>
#include <type_traits>

namespace cupel::ssh {

template <auto Release>
struct ReleasedBy {
  template <class T>
  void operator()(T* handle) const {
    Release(handle);
  }
};

template <class Handle, auto Release>
using Owned = std::unique_ptr<std::remove_pointer_t<Handle>, ReleasedBy<Release>>;

using Key = Owned<ssh_key, ssh_key_free>;
using Channel = Owned<ssh_channel, ssh_channel_free>;

}  // namespace cupel::ssh
