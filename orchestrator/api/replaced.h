#pragma once
// A value that several threads read, and that is replaced as a whole.
#include <memory>
#include <mutex>
#include <utility>

namespace cupel::api {

/// From any thread.
template <class T>
class Replaced {
 public:
  std::shared_ptr<const T> get() const {
    const std::scoped_lock lock{mutex_};
    return value_;
  }
  void put(std::shared_ptr<const T> value) {
    const std::scoped_lock lock{mutex_};
    value_ = std::move(value);
  }

 private:
  mutable std::mutex mutex_{};
  std::shared_ptr<const T> value_{};
};

}  // namespace cupel::api
