#pragma once
// The playbook format as tables: every key that there is, with its shape and one line for people.
// docs/know/playbooks.md says what they are for.
#include "burnin/job.h"
#include "playbooks/shape.h"
#include "playbooks/step_kind.h"

namespace cupel::playbooks {

/// A whole file. Its steps are only checked to be a list: each has a shape of its own.
const Shape& playbook_shape();
/// An item of `steps:` that is a step or a stage.
const Shape& step_shape();
/// An item of `steps:` that includes another file.
const Shape& include_shape();
/// The value of a parameter whose declared type is `type`: "duration".
Shape shape_of_type(std::string_view type);
Shape shape_of(const burnin::ParameterRow& row);

inline constexpr std::size_t kMostSteps = 1000;  // of one playbook, when all is expanded
inline constexpr std::size_t kMostEach = 256;    // turns of one `foreach:`
inline constexpr std::size_t kDeepestInclude = 8;
inline constexpr std::size_t kMostIncludes = 100;
inline constexpr std::size_t kLongestFile = 1u << 20;    // bytes of one file
inline constexpr std::size_t kLongestValue = 4096;       // bytes of one value, when filled in
inline constexpr std::size_t kLongestValues = 4u << 20;  // of all values that were filled in
inline constexpr std::size_t kMostText = 8u << 20;       // of all files together

}  // namespace cupel::playbooks
