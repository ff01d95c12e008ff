#pragma once
// Names of measures that have another name now. The former name is accepted for one release where
// people write it (criteria of profiles, conditions of playbooks), with a warning; and for as long
// as there are journals of older versions, or programs for nodes, that have it.
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "inventory/problem.h"
#include "inventory/yaml.h"

namespace cupel::inventory {

struct FormerMeasure {
  std::string_view former;
  std::string_view now;
};

inline constexpr auto kFormerMeasures = std::to_array<FormerMeasure>({
    {"collective.wrong", "collective.errors"},
    {"gemm.lag", "gemm.below_best"},
    {"gemm.wrong", "gemm.errors"},
    {"gpu.answers", "gpu.responsive"},
    {"hbm.lag", "hbm.below_best"},
    {"hbm.wrong", "hbm.errors"},
    {"kernel.told", "kernel_log.readable"},
    {"p2p.pair.lag", "p2p.pair.below_best"},
    {"p2p.wrong", "p2p.errors"},
    {"pcie.lag", "pcie.below_best"},
    {"pcie.wrong", "pcie.errors"},
    {"psu.feed.tried", "psu.feed.tested"},
});

/// The present name for a former one; any other name unchanged.
std::string_view present_measure(std::string_view name);

/// "warning: 'gemm.lag' is called 'gemm.below_best' now; ...".
std::string renamed_warning(std::string_view former, std::string_view now);

/// Replaces former names in a profile's criteria; the first of each in the file becomes a warning
/// with its place. `warnings` may be null.
void replace_former_measures(YamlValue& profile, const std::string& file,
                             std::vector<Problem>* warnings);

}  // namespace cupel::inventory
