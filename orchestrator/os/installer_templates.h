#pragma once
// The texts that an installer is given, by ctemplate. Every value was checked before: none has a
// line's end, a quote or a backslash. Pure.
#include <string>
#include <vector>

namespace cupel::os {

struct Mirror {
  std::string protocol{}, host{}, path{};  // "http", "10.0.0.1:8000", "/debian"
};

struct PreseedAnswers {
  std::string base_url{};
  std::string host_name{};
  Mirror mirror{};
};
/// Answers to all that Debian's installer asks on its way to a system with SSH on one disk.
std::string preseed_text(const PreseedAnswers& answers);

struct InstallerReports {
  std::string base_url{};
  std::string serial{};  // of the disk that may be written
  bool wipe = false;     // it may hold something
  std::string mirror{};
};
/// What runs beside the installer, by the word that the answer file calls it with: "early" says
/// hello and stops a machine that is refused; "disk" names the disk to the installer, or stops it;
/// "late" does what the late script says and reports the end.
std::string installer_script(const InstallerReports& reports);

struct FixedNetwork {
  std::string mac{};
  std::string address{};  // "10.0.2.11/24"; empty: by DHCP
  std::string gateway{};
  std::vector<std::string> dns{};
};
struct NewSystem {
  std::string host_name{};
  std::string key{};        // root's
  std::string installed{};  // content of kInstalledFile
  std::string image{};
  std::string home_url{};
  std::vector<FixedNetwork> networks{};  // empty: as the installer has set them
};
/// A script that prepares the installed system below its first argument [/target]. Secret.
std::string late_script(const NewSystem& system);

}  // namespace cupel::os
