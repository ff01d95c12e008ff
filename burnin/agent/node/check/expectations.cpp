#include "burnin/agent/node/check/expectations.h"

#include "burnin/agent/common/json_value.h"
#include "burnin/agent/common/options.h"

namespace cupel::agent {
namespace {

constexpr std::size_t kMostExpected = 256;  // ports, mounts, file systems

Error wrong(std::string_view key, std::string_view expected) {
  return Error{Code::kMalformed, std::string{key} + ": expected " + std::string{expected}};
}

struct NumberKey {
  std::string_view name;
  std::optional<double> Expectations::* place;
};
constexpr NumberKey kNumbers[] = {
    {"gpus", &Expectations::gpus},
    {"gpu_memory_gib", &Expectations::gpu_memory_gib},
    {"nvlinks", &Expectations::nvlinks},
    {"gpu_pcie_width", &Expectations::gpu_pcie_width},
    {"hcas", &Expectations::hcas},
    {"nvme", &Expectations::nvme},
    {"memory_gib", &Expectations::memory_gib},
};

struct FlagKey {
  std::string_view name;
  std::optional<bool> Expectations::* place;
};
constexpr FlagKey kFlags[] = {
    {"ecc", &Expectations::ecc},
    {"fabric_manager", &Expectations::fabric_manager},
    {"time_synchronised", &Expectations::time_synchronised},
};

Result<void> read_ports(const JsonValue& value, Expectations& expected) {
  const auto* ports = value.array();
  if (ports == nullptr || ports->size() > kMostExpected)
    return wrong("ports", "a list of {name, gbits}");
  for (const auto& each : *ports) {
    const auto* name = each.find("name");
    const auto* gbits = each.find("gbits");
    if (name == nullptr || name->text() == nullptr || gbits == nullptr ||
        gbits->number() == nullptr)
      return wrong("ports", "a list of {name, gbits}");
    expected.ports.push_back({*name->text(), *gbits->number()});
  }
  return ok();
}

Result<void> read_mounts(const JsonValue& value, Expectations& expected) {
  const auto* mounts = value.array();
  if (mounts == nullptr || mounts->size() > kMostExpected)
    return wrong("mounts", "a list of paths");
  for (const auto& each : *mounts) {
    if (each.text() == nullptr || !each.text()->starts_with('/'))
      return wrong("mounts", "a list of paths");
    expected.mounts.push_back(*each.text());
  }
  return ok();
}

Result<void> read_free(const JsonValue& value, Expectations& expected) {
  const auto* free = value.object();
  if (free == nullptr || free->size() > kMostExpected) return wrong("free", "per cent by path");
  for (const auto& [path, percent] : *free) {
    if (!path.starts_with('/') || percent.number() == nullptr || *percent.number() < 0 ||
        *percent.number() > 100)
      return wrong("free", "per cent by path");
    expected.free[path] = *percent.number();
  }
  return ok();
}

Result<void> read_key(const std::string& key, const JsonValue& value, Expectations& expected) {
  for (const auto& row : kNumbers)
    if (row.name == key) {
      if (value.number() == nullptr || *value.number() < 0) return wrong(key, "a number");
      expected.*row.place = *value.number();
      return ok();
    }
  for (const auto& row : kFlags)
    if (row.name == key) {
      if (value.boolean() == nullptr) return wrong(key, "true or false");
      expected.*row.place = *value.boolean();
      return ok();
    }
  if (key == "ports") return read_ports(value, expected);
  if (key == "mounts") return read_mounts(value, expected);
  if (key == "free") return read_free(value, expected);
  if (key == "made_of") return ok();  // for people: the profile
  return Error{Code::kMalformed, "there is no key " + shown(key)};
}

}  // namespace

Result<Expectations> parse_expectations(std::string_view text) {
  TRY(const auto document, JsonValue::parse(text));
  const auto* keys = document.object();
  if (keys == nullptr) return Error{Code::kMalformed, "expected an object"};
  Expectations expected;
  for (const auto& [key, value] : *keys) {
    TRY(read_key(key, value, expected));
  }
  return expected;
}

}  // namespace cupel::agent
