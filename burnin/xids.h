#pragma once
// What an Xid means: the one list of them, for the controller and for cupel-node. Pure, header
// only, since the programs on the nodes link nothing of burnin/.
#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

namespace cupel::burnin {

struct Xid {
  int code = 0;
  bool serious = false;
  std::string_view meaning{};
};

/// Serious: the first action is a reset, a restart or a person; and memory errors that were
/// contained (94) or corrected too often (92), a link to the CPU that fails (121) and rows that
/// cannot be retired (157): a burn-in's own program causes none of them. The rest are errors of the
/// program, or events that other numbers count (63: a row remap).
/// Source: NVIDIA's Xid catalogue, columns "immediate action" and "investigatory action".
inline constexpr std::array kXids{
    Xid{8, false, "GPU stopped processing"},
    Xid{11, false, "invalid or corrupted push buffer stream"},
    Xid{13, false, "graphics engine exception"},
    Xid{25, false, "invalid or illegal push buffer stream"},
    Xid{31, false, "GPU memory page fault"},
    Xid{32, false, "invalid or corrupted push buffer stream"},
    Xid{37, false, "driver firmware error"},
    Xid{38, false, "driver firmware error"},
    Xid{39, false, "copy engine exception"},
    Xid{40, false, "copy engine exception"},
    Xid{41, false, "copy engine exception"},
    Xid{43, false, "GPU stopped processing"},
    Xid{44, false, "graphics engine fault during context switch"},
    Xid{45, false, "cleanup after an earlier error"},
    Xid{46, true, "GPU stopped processing"},
    Xid{48, true, "double-bit ECC error"},
    Xid{54, true, "auxiliary power is not connected"},
    Xid{60, false, "video processor exception"},
    Xid{62, true, "internal micro-controller halt"},
    Xid{63, false, "GPU memory remapping event"},
    Xid{64, true, "GPU memory remapping failure"},
    Xid{66, false, "illegal access by driver"},
    Xid{67, false, "illegal access by driver"},
    Xid{68, false, "NVDEC0 exception"},
    Xid{69, false, "graphics engine class error"},
    Xid{70, false, "CE3 error"},
    Xid{71, false, "CE4 error"},
    Xid{72, false, "CE5 error"},
    Xid{74, true, "NVLink error"},
    Xid{75, false, "CE6 error"},
    Xid{76, false, "CE7 error"},
    Xid{77, false, "CE8 error"},
    Xid{78, false, "vGPU start error"},
    Xid{79, true, "GPU has fallen off the bus"},
    Xid{80, false, "corrupted data sent to GPU"},
    Xid{82, false, "NVJPG0 error"},
    Xid{83, false, "NVDEC1 error"},
    Xid{84, false, "NVDEC2 error"},
    Xid{85, false, "CE9 error"},
    Xid{86, false, "OFA exception"},
    Xid{88, false, "NVDEC3 error"},
    Xid{89, false, "NVDEC4 error"},
    Xid{92, true, "high rate of corrected memory errors"},
    Xid{93, false, "InfoROM wear limit exceeded"},
    Xid{94, true, "contained memory error"},
    Xid{95, true, "uncontained memory error"},
    Xid{96, false, "NVDEC5 error"},
    Xid{97, false, "NVDEC6 error"},
    Xid{98, false, "NVDEC7 error"},
    Xid{99, false, "NVJPG1 error"},
    Xid{100, false, "NVJPG2 error"},
    Xid{101, false, "NVJPG3 error"},
    Xid{102, false, "NVJPG4 error"},
    Xid{103, false, "NVJPG5 error"},
    Xid{104, false, "NVJPG6 error"},
    Xid{105, false, "NVJPG7 error"},
    Xid{106, false, "SMBPBI test message"},
    Xid{107, false, "SMBPBI test message silent"},
    Xid{109, true, "context switch timeout error"},
    Xid{110, true, "security fault error"},
    Xid{119, true, "GSP RPC timeout"},
    Xid{120, true, "GSP error"},
    Xid{121, true, "C2C link error"},
    Xid{126, false, "CE10 error"},
    Xid{127, false, "CE11 error"},
    Xid{128, false, "CE12 error"},
    Xid{129, false, "CE13 error"},
    Xid{130, false, "CE14 error"},
    Xid{131, false, "CE15 error"},
    Xid{132, false, "CE16 error"},
    Xid{133, false, "CE17 error"},
    Xid{134, false, "CE18 error"},
    Xid{135, false, "CE19 error"},
    Xid{136, true, "link training failed"},
    Xid{137, false, "NVLink privilege error"},
    Xid{139, false, "OFA1 error"},
    Xid{140, true, "ECC unrecovered error"},
    Xid{141, false, "CUDA fast path error"},
    Xid{142, true, "NVENC3 error"},
    Xid{143, true, "GPU initialization error"},
    Xid{144, true, "NVLink: SAW error"},
    Xid{145, true, "NVLink: RLW error"},
    Xid{146, true, "NVLink: TLW error"},
    Xid{147, true, "NVLink: TREX error"},
    Xid{148, true, "NVLink: NVLPW_CTRL error"},
    Xid{149, true, "NVLink: NETIR error"},
    Xid{150, true, "NVLink: MSE error"},
    Xid{151, false, "key rotation error"},
    Xid{152, false, "DLA SMMU error"},
    Xid{153, false, "DLA timeout error"},
    Xid{154, false, "GPU recovery action changed"},
    Xid{155, true, "NVLink: SW defined error"},
    Xid{156, true, "resource retirement event"},
    Xid{157, true, "resource retirement failure"},
    Xid{158, true, "GPU fatal timeout"},
    Xid{159, false, "CHI non-data error"},
    Xid{160, false, "channel retirement event"},
    Xid{161, false, "channel retirement failure"},
    Xid{162, false, "power smoothing is available again"},
    Xid{163, false, "power smoothing is not available"},
    Xid{164, false, "power smoothing hardware is near the end of its life"},
    Xid{165, false, "power smoothing hardware is worn out"},
    Xid{166, false, "traffic before the link was configured for encryption"},
    Xid{167, true, "PCIe fatal timeout"},
    Xid{168, true, "reduced memory capacity: errors in the write-protected region"},
    Xid{169, true, "internal micro-controller halt (SEC2)"},
    Xid{170, false, "interrupt in confidential-computing mode"},
    Xid{171, true, "uncorrectable DRAM error, beside Xid 48"},
    Xid{172, true, "uncorrectable SRAM error, beside Xid 48"},
};

/// Of hardware or the driver, by NVIDIA's former list ("Xid Errors", to driver 555); its catalogue
/// does not have them.
inline constexpr std::array kFormerXids{
    Xid{56, true, "display engine error"},
    Xid{57, true, "error while video memory was set up"},
    Xid{58, true, "unstable video memory interface"},
    Xid{61, true, "internal micro-controller breakpoint or warning"},
    Xid{122, true, "the GPU's flash memory could not be read"},
    Xid{123, true, "the GPU's flash memory could not be written"},
    Xid{124, true, "the GPU's flash memory could not be erased"},
    Xid{125, true, "InfoROM file system failure"},
};

/// Answered by a reset of the GPU, where it says so alone: immediate action RESET_GPU, and 48,
/// whose workflow is a reset. Not 64: a row that could not be remapped is not mended by it (NVIDIA
/// GPU memory error management: a failed remap qualifies for RMA).
inline constexpr std::array kResetXids{46,  48,  62,  95,  109, 110, 119,
                                       120, 136, 140, 143, 155, 156, 158};
/// A memory error that was contained: the GPU is to be reset when it is convenient.
inline constexpr int kContainedXid = 94;
/// Answered by a restart of the machine: immediate action RESTART_BM.
inline constexpr int kRestartXid = 79;

constexpr bool is_answered_by_reset(int code) {
  return code == kContainedXid || std::ranges::find(kResetXids, code) != kResetXids.end();
}

/// nullptr for a code that the catalogue does not list.
constexpr const Xid* xid_of(int code) {
  const auto* found = std::ranges::find(kXids, code, &Xid::code);
  return found == kXids.end() ? nullptr : found;
}

/// In words; of 0, no Xid, none.
constexpr std::string_view meaning_of_xid(int code) {
  if (const auto* known = xid_of(code); known != nullptr) return known->meaning;
  const auto* former = std::ranges::find(kFormerXids, code, &Xid::code);
  if (former != kFormerXids.end()) return former->meaning;
  return code == 0 ? std::string_view{} : "in no list of NVIDIA's that Cupel has";
}

enum class XidWeight : std::uint8_t { information, corrected, error };

/// Errors of a program as long as it is somebody else's: the burn's own one runs on every healthy
/// GPU without any. 43 and 45 follow when it is ended, 63 is a row remap, which other numbers
/// count.
constexpr bool is_of_the_burn(int code, std::string_view rest) {
  constexpr int kStopped = 43, kCleanedUp = 45, kRemapped = 63;
  const bool follows = code == kStopped || code == kCleanedUp || code == kRemapped;
  return !follows && rest.contains("name=cupel-burn");
}

/// `rest`: what the kernel's line says after the code. NVLink 5 reports in it which of its events
/// end nothing; 154 reports the action that the driver wants: "GPU recovery action changed from 0x0
/// (None) to 0x2 (Node Reboot Required)". A code that the catalogue does not have is an error:
/// somebody has to look it up.
constexpr XidWeight weight_of_xid(int code, std::string_view rest) {
  using enum XidWeight;
  constexpr int kRecoveryAction = 154, kFirstNvlink5 = 144, kLastNvlink5 = 150;
  if (code == kRecoveryAction) {
    const auto to = rest.rfind(" to ");
    const bool selected = to != rest.npos && !rest.substr(to).contains("(None)");
    return selected ? error : information;
  }
  const auto* known = xid_of(code);
  if (known == nullptr) return error;
  if (!known->serious) return is_of_the_burn(code, rest) ? error : information;
  const bool ended_nothing =
      code >= kFirstNvlink5 && code <= kLastNvlink5 && rest.contains("Nonfatal");
  return ended_nothing ? corrected : error;
}

/// SXids that end nothing: single-bit errors that the switch corrected, and events of a link or of
/// a program. All others are fatal, may be, or are on no list. Source: NVIDIA Fabric Manager user
/// guide, appendix D.4 (DU-09883-001).
inline constexpr std::array kCorrectedSxids{11004, 11012, 11021, 11022, 11023, 12021, 12023,
                                            15008, 15011, 19049, 19055, 19057, 19059, 19062,
                                            19065, 19068, 19071, 24001, 24002, 24003};
inline constexpr std::array kHarmlessSxids{12028, 20001, 22013};

/// `rest`: "Non-fatal, Link 61 egress non-posted PRIV error".
constexpr XidWeight weight_of_sxid(int code, std::string_view rest) {
  if (rest.starts_with("Fatal")) return XidWeight::error;
  if (std::ranges::find(kHarmlessSxids, code) != kHarmlessSxids.end())
    return XidWeight::information;
  const bool ecc = std::ranges::find(kCorrectedSxids, code) != kCorrectedSxids.end();
  return ecc ? XidWeight::corrected : XidWeight::error;
}

}  // namespace cupel::burnin
