#pragma once
// What NVML reports of a GPU's place in an NVLink fabric, and what its bits mean. Pure.
// Source: NVML API reference, nvmlGpuFabricInfo_t, nvmlGpuFabricInfo_v2_t, nvmlGpuFabricInfo_v3_t,
// NVML_GPU_FABRIC_HEALTH_MASK_*.
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cupel::agent::nvml {

/// Of nvmlDeviceGetGpuFabricInfo, which every driver has and which knows no health.
struct FabricInfo {
  unsigned char cluster[16];
  int status;
  unsigned clique;
  unsigned char state;
};
static_assert(sizeof(FabricInfo) == 28);

/// Of nvmlDeviceGetGpuFabricInfoV. Version 2 ends before `summary`.
struct FabricInfoV {
  unsigned version = 0;
  unsigned char cluster[16]{};
  int status = 0;
  unsigned clique = 0;
  unsigned char state = 0;
  unsigned health = 0;
  unsigned char summary = 0;
};
static_assert(sizeof(FabricInfoV) == 40);
inline constexpr unsigned kFabricInfoV2 = 36 | 2u << 24, kFabricInfoV3 = 40 | 3u << 24;

enum class FabricState : unsigned char { not_supported, not_started, in_progress, completed };

struct Fabric {
  std::array<unsigned char, 16> cluster{};  // one for all GPUs of an NVLink domain; zeros: none
  int status = 0;                           // nvmlReturn_t; counts once the state is completed
  unsigned clique = 0;                      // its partition of the domain; 0: none
  unsigned char state = 0;                  // FabricState
  std::optional<unsigned> health{};         // bits; nothing: this driver does not report them

  bool has_cluster() const { return cluster != std::array<unsigned char, 16>{}; }
};

Fabric fabric_of(const FabricInfo& reported);
Fabric fabric_of(const FabricInfoV& reported);

/// "0a1b2c3d-0000-4000-8000-000000000001". Source: RFC 9562, 4.
std::string uuid_text(const std::array<unsigned char, 16>& bytes);

/// The facts of a health mask. Nothing: not reported, which is neither good nor bad. A mask of 0
/// reports nothing; 0xaa and 0x1aa are those of a healthy GPU.
struct FabricHealth {
  std::optional<bool> degraded_bandwidth{}, route_recovery{}, route_unhealthy{},
      access_timeout_recovery{};
  std::string_view wrong_configuration{};  // "none"; empty: not reported
};
FabricHealth fabric_health(unsigned mask);

/// Whether GPUs of this name are in the NVLink domain of a rack ("NVIDIA GB200"), and not of one
/// machine.
bool is_of_rack(std::string_view name);

/// What keeps a GPU whose state is completed and whose status is success from being used: in words
/// for a person. One of a rack has a cluster and a clique, and is joined to nothing where either is
/// 0; a machine that is a fabric by itself need not have them (HGX H100 has neither).
std::vector<std::string> fabric_faults(const Fabric& fabric, bool of_rack);

}  // namespace cupel::agent::nvml
