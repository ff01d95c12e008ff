#pragma once
// One thing that a BMC can be asked, as a value: a function with a name. A driver assigns how it
// does it; a verb that nobody assigned ends with kUnsupported. Not a retry, and not a fallback:
// that is in fallback_bmc.h.
#include <functional>

#include "bmc/answers.h"

namespace cupel::bmc {

/// Whether a verb may be asked of the other protocol after the first one broke off in the middle.
enum class Twice { harmless, forbidden };

template <class T>
Task<Result<T>> lacking(std::string_view verb) {
  co_return Error{Code::kUnsupported, std::string{verb} + ": not by this protocol"};
}

template <class Signature>
class Verb;

/// Called with its arguments and a deadline: `co_await bmc.boot.set(target, deadline)`. Whoever
/// assigned it must outlive the call, as with a member function.
template <class T, class... Args>
class Verb<T(Args...)> {
 public:
  using Way = std::function<Task<Result<T>>(Args..., Deadline)>;

  /// `name`: a literal; it names the verb in errors.
  explicit Verb(std::string_view name, Twice twice = Twice::harmless)
      : name_{name}, twice_{twice}, way_{[name](Args..., Deadline) { return lacking<T>(name); }} {}
  Verb(const Verb&) = delete;
  Verb& operator=(const Verb&) = delete;

  Task<Result<T>> operator()(Args... args, Deadline deadline) const {
    return way_(std::move(args)..., deadline);
  }

  Verb& operator=(Way way) {
    way_ = std::move(way);
    return *this;
  }
  /// The same, of a member function.
  template <class Driver>
  void bind(Driver* driver, Task<Result<T>> (Driver::*member)(Args..., Deadline)) {
    way_ = [driver, member](Args... args, Deadline deadline) {
      return (driver->*member)(std::move(args)..., deadline);
    };
  }

  std::string_view name() const { return name_; }
  Twice twice() const { return twice_; }

 private:
  std::string_view name_;
  Twice twice_;
  Way way_;
};

/// What a verb returns where `by` came to know `value`, or did what it was asked (void).
template <class T, class Value>
Result<T> answered(Result<Value> value, Protocol by) {
  if (!value) return std::move(value).error();
  if constexpr (std::is_same_v<T, Value>)
    return value;
  else if constexpr (std::is_same_v<T, Protocol>)
    return by;
  else
    return T{*std::move(value), by};
}

}  // namespace cupel::bmc
