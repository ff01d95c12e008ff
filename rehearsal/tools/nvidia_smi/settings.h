#pragma once
// What nvidia-smi changes in a GPU: persistence, power limit, clocks, ECC, MIG, counters, resets.
#include <optional>
#include <string>

#include "rehearsal/tools/gpu_view.h"

namespace cupel::rehearsal {

struct Setting {
  char what = 0;  // a letter of kSettings in settings.cpp
  std::string value{};
};

struct Changed {
  std::string text{};
  int status = 0;
};

/// The setting that an option stands for; nothing where it is none. `valued`: an argument follows.
struct SettingOption {
  std::string_view name, long_name;
  char what;
  bool valued;
};
const SettingOption* setting_option(std::string_view name);

/// Does it to one GPU, and says so in nvidia-smi's words.
Changed change(Host& host, const GpuView& gpu, const Setting& setting);

}  // namespace cupel::rehearsal
