#include "rehearsal/bmc/vendor_behavior.h"

#include <algorithm>

namespace cupel::rehearsal {
namespace {

template <class... Word>
constexpr auto list(Word... words) {
  return std::array<std::string_view, sizeof...(words)>{words...};
}

constexpr auto kAllEnabled = list("Disabled", "Once", "Continuous");
constexpr auto kOnceOnly = list("Once", "Disabled");

constexpr auto kAmiResets = list("GracefulShutdown", "ForceRestart", "ForceOff", "On");
constexpr auto kDellResets = list("On", "ForceOff", "ForceRestart", "GracefulRestart",
                                  "GracefulShutdown", "PushPowerButton", "Nmi", "PowerCycle");
constexpr auto kHpeResets = list("On", "ForceOff", "GracefulShutdown", "ForceRestart", "Nmi",
                                 "PushPowerButton", "GracefulRestart");
constexpr auto kLenovoResets =
    list("On", "Nmi", "GracefulShutdown", "GracefulRestart", "ForceOn", "ForceOff", "ForceRestart");
constexpr auto kSupermicroResets = list("On", "ForceOff", "GracefulShutdown", "GracefulRestart",
                                        "ForceRestart", "Nmi", "ForceOn", "PowerCycle");
constexpr auto kOpenbmcResets = list("ForceOff", "PowerCycle", "Nmi", "GracefulShutdown", "On",
                                     "ForceOn", "GracefulRestart", "ForceRestart");

constexpr auto kAmiTargets =
    list("None", "Pxe", "Floppy", "Cd", "Usb", "Hdd", "BiosSetup", "Utilities", "Diags",
         "UefiShell", "UefiTarget", "SDCard", "UefiHttp", "RemoteDrive", "UefiBootNext");
constexpr auto kDellTargets = list("None", "Pxe", "Floppy", "Cd", "Hdd", "BiosSetup", "Utilities",
                                   "UefiTarget", "SDCard", "UefiHttp");
constexpr auto kHpeTargets = list("None", "Cd", "Hdd", "Usb", "SDCard", "Utilities", "Diags",
                                  "BiosSetup", "Pxe", "UefiShell", "UefiHttp", "UefiTarget");
constexpr auto kLenovoTargets =
    list("None", "Pxe", "Cd", "Usb", "Hdd", "BiosSetup", "Diags", "UefiTarget");
// As an X12 has it: the drive is called UsbCd alone.
constexpr auto kSupermicroTargets =
    list("None", "Pxe", "Floppy", "Usb", "Hdd", "BiosSetup", "UsbCd", "UefiBootNext", "UefiHttp");
constexpr auto kOpenbmcTargets = list("None", "Pxe", "Hdd", "Cd", "Diags", "BiosSetup", "Usb");

constexpr auto kDellLights = list("Lit", "Blinking");

constexpr auto kDiscs = list("CD", "DVD");
constexpr auto kSticks = list("Floppy", "USBStick");
constexpr auto kDiscsAndSticks = list("CD", "DVD", "USBStick");
constexpr auto kEverything = list("CD", "DVD", "Floppy", "USBStick");
constexpr auto kCdAndStick = list("CD", "USBStick");

constexpr std::array<MediaSlotRow, 1> kAmiSlots{{{"CD1", kDiscs}}};
constexpr std::array<MediaSlotRow, 2> kDellSlots{{{"1", kDiscsAndSticks}, {"2", kDiscsAndSticks}}};
constexpr std::array<MediaSlotRow, 2> kHpeSlots{{{"1", kSticks}, {"2", kDiscs}}};
constexpr std::array<MediaSlotRow, 2> kLenovoSlots{{{"EXT1", kEverything}, {"EXT2", kEverything}}};
constexpr std::array<MediaSlotRow, 2> kSupermicroSlots{
    {{"VirtualMedia1", kEverything}, {"VirtualMedia2", kEverything}}};
constexpr std::array<MediaSlotRow, 2> kOpenbmcSlots{{{"USB1", kCdAndStick}, {"USB2", kCdAndStick}}};

// NVIDIA's baseboard: its manager takes Manager alone, its System OEM alone. Where they are: the
// capture of a DGX H100. Words: the ActionInfo of a GB200. How long they take: orders of magnitude.
constexpr auto kBaseboardDumps = std::to_array<std::string_view>(
    {"DiagnosticType=FPGA", "DiagnosticType=ROT", "DiagnosticType=FirmwareAttributes",
     "DiagnosticType=HardwareCheckout"});
constexpr std::array<DumpRow, 2> kDgxDumps{
    {{.owner = "Managers/HGX_BMC_0", .type = "Manager", .takes = VirtualTime{90}},
     {.owner = "Systems/HGX_Baseboard_0",
      .type = "OEM",
      .oem_types = kBaseboardDumps,
      .takes = VirtualTime{180}}}};

constexpr VendorBehavior kDgx{
    .vendor = "dgx",
    .names = {.root_vendor = "AMI",  // who made the machine stands in the System
              .product = "AMI Redfish Server",
              .oem = "Ami",
              .oem_root = "#AMIServiceRoot.v1_0_0.AMIServiceRoot",
              .sku = "920-24387-2540-000",
              .server = "AMI MegaRAC Redfish Service"},
    .layout = {.system = "DGX",
               .manager = "BMC",
               .chassis = "DGX",
               .system_of_gpus = "HGX_Baseboard_0",
               .boot_settings = "SD",
               .boot_is_in_settings = true,
               .bios_settings = "SD",
               .log = "SEL",
               .host_log = "BIOS",
               .host_lists_devices = true,
               .sse = "/redfish/v1/EventService/SSE",
               .page = 50,
               .first = 0,
               .fan = "SPD_FAN_SYS{}_F",
               .cpu = "DevType1_CPU{}",
               .dimm = "DevType2_DIMM{}",
               .nic = "DevType7_NIC{}"},
    .tags = {.form = TagForm::strong, .rule = TagRule::required},
    .power = {.resets = kAmiResets, .inline_words = false, .action_info = true},
    .boot = {.enabled = kAllEnabled,
             .targets = kAmiTargets,
             .http_uri = true,
             .only_in_settings = true},
    .media = {.slots = kAmiSlots},
    .accounts = {.shortest = 13, .longest = 20, .classes = 4, .lockout = 5},
    .bios = {.reset_word = "Reset", .tells_reset_word = true},
    .locator = {.tells_words = true},
    .dumps = kDgxDumps,
    .connection = {.expand_levels = 5},
};

constexpr VendorBehavior kDell{
    .vendor = "dell",
    .names = {.root_vendor = "Dell",
              .product = "Integrated Dell Remote Access Controller",
              .oem = "Dell",
              .oem_root = "#DellServiceRoot.v1_0_0.DellServiceRoot",
              .manufacturer = "Dell Inc.",
              .model = "PowerEdge XE9680",
              .bmc_model = "16G Monolithic",
              .bmc_version = "6.10.80.00",
              .server = "Apache",
              .redfish = "1.13.1",
              .serial_is_sku = true},
    .layout = {.system = "System.Embedded.1",
               .manager = "iDRAC.Embedded.1",
               .chassis = "System.Embedded.1",
               .log = "Sel",
               .newest_first = true,
               .sse = "/redfish/v1/SSE",
               .page = 50,
               .psu = "PSU.Slot.{}",
               .fan = "Fan.Embedded.{}A",
               .cpu = "CPU.Socket.{}",
               .dimm = "DIMM.Socket.{}",
               .nic = "NIC.Slot.{}"},
    .tags = {.form = TagForm::bare, .in_body = false, .refused_on_post = true},
    .errors = ErrorStyle::dell,
    .thanks = PatchReply::messages,
    .power = {.resets = kDellResets,
              .same_state = SameState::conflict,
              .lag = VirtualTime{5},
              .bmc_reset = "GracefulRestart"},
    .boot = {.enabled = kAllEnabled, .targets = kDellTargets},
    .media = {.of_manager = false, .slots = kDellSlots},
    .accounts = {.slots = 16, .first_slot = 3, .admin_slot = 2, .shortest = 1, .longest = 40},
    .bios = {.by_job = true, .shows_pending = true, .names_defaults = false},
    .locator = {.on = "Blinking", .off = "Lit", .words = kDellLights},
    .connection = {.after_restart = VirtualTime{30}, .expand_levels = 1},
    .offset_minutes = -300,
};

constexpr VendorBehavior kIlo6{
    .vendor = "hpe",
    .names = {.root_vendor = "HPE",
              .product = "ProLiant DL380a Gen11",
              .oem = "Hpe",
              .oem_root = "#HpeiLOServiceExt.v2_7_0.HpeiLOServiceExt",
              .manufacturer = "HPE",
              .model = "ProLiant DL380a Gen11",
              .bmc_model = "iLO 6",
              .bmc_version = "iLO 6 v1.66",
              .redfish = "1.20.0"},
    .layout = {.system = "1",
               .manager = "1",
               .chassis = "1",
               .bios = "bios",
               .bios_settings = "settings",
               .trailing_slash = true,
               .log_of_manager = false,
               .log = "IML",
               .psu = "{}",
               .fan = "{}",
               .cpu = "{}",
               .dimm = "proc1dimm{}",
               .nic = "DE0{}1000"},
    .tags = {.form = TagForm::weak},
    .errors = ErrorStyle::ids_only,
    .thanks = PatchReply::success_in_error,
    .power = {.resets = kHpeResets,
              .lag = VirtualTime{5},
              .ac = {"Systems/1/Actions/Oem/Hpe/HpeComputerSystemExt.SystemReset",
                     "#HpeComputerSystemExt.SystemReset", "AuxCycle"}},
    .boot = {.enabled = kAllEnabled, .targets = kHpeTargets, .not_during_post = true},
    .media = {.slots = kHpeSlots, .wants_object = true, .empty = "-"},
    .accounts = {.shortest = 8, .longest = 39},
    .bios = {.reset_word = "default"},
    .locator = {.active = true, .led = false},
    .connection = {.sessions = 24,
                   .says_close = true,
                   .forgets_every = 40,
                   .after_restart = VirtualTime{20},
                   .expand_levels = 1},
    .writes_z = true,
};

/// The older one: no sensors but Thermal and Power, and no kept connection lives long.
constexpr VendorBehavior ilo5() {
  auto row = kIlo6;
  row.vendor = "hpe-ilo5";
  row.names.product = row.names.model = "ProLiant DL385 Gen10 Plus v2";
  row.names.bmc_model = "iLO 5";
  row.names.bmc_version = "iLO 5 v2.72";
  row.names.redfish = "1.6.0";
  row.locator = {.active = false, .led = true};
  row.layout.sensors = SensorStyle::legacy;
  row.connection.resets_every = 2;
  row.connection.says_close = false;
  return row;
}

constexpr VendorBehavior kLenovo{
    .vendor = "lenovo",
    .names = {.root_vendor = "Lenovo",
              .manufacturer = "Lenovo",
              .model = "ThinkSystem SR675 V3",
              .bmc_model = "Lenovo XClarity Controller",
              .bmc_version = "TGBT42S 2.83 2023-07-05",
              .server = "XCC Web Server",
              .redfish = "1.15.0"},
    .layout = {.system = "1",
               .manager = "1",
               .chassis = "1",
               .boot_settings = "Pending",
               .bios_settings = "Pending",
               .log_of_manager = false,
               .log = "PlatformLog",
               .sse = "/redfish/v1/EventService/ServerSentEvent",
               .fan = "Fan_{}A_Tach",
               .cpu = "{}",
               .dimm = "{}",
               .nic = "slot-{}"},
    .tags = {.form = TagForm::strong, .refuses_every = 3},
    .thanks = PatchReply::resource,
    .power = {.resets = kLenovoResets,
              .action_info = true,
              .force_restart = Restart::hangs,
              .lag = VirtualTime{8},
              .ac = {"Systems/1/Actions/Oem/LenovoComputerSystem.SystemReset",
                     "#LenovoComputerSystem.SystemReset", "ACPowerCycle"},
              .bmc_reset = "GracefulRestart"},
    .boot = {.enabled = kOnceOnly, .targets = kLenovoTargets},
    .media = {.of_manager = false, .slots = kLenovoSlots, .by_patch = true},
    .accounts = {.shortest = 10, .longest = 32, .classes = 3},
    .connection = {.sessions = 16, .after_restart = VirtualTime{20}},
};

constexpr VendorBehavior kSupermicro{
    .vendor = "supermicro",
    .names = {.oem = "Supermicro",  // no Vendor in its root
              .manufacturer = "Supermicro",
              .model = "SYS-821GE-TNHR",
              .bmc_model = "ASPEED",
              .bmc_version = "11.01.01"},
    .layout = {.system = "1",
               .manager = "1",
               .chassis = "1",
               .bios_settings = "SD",
               .log_of_manager = false,
               .log = "Log1",
               .sensors = SensorStyle::legacy,
               .fan = "FAN{}",
               .cpu = "{}",
               .dimm = "{}",
               .nic = "{}"},
    .tags = {.form = TagForm::strong, .rule = TagRule::ignored},
    .thanks = PatchReply::messages,
    .power = {.resets = kSupermicroResets,
              .inline_words = false,
              .action_info = true,
              .lag = VirtualTime{3},
              .bmc_reset = "GracefulRestart"},
    .boot = {.enabled = kAllEnabled, .targets = kSupermicroTargets, .forgets_the_rest = true},
    .media = {.slots = kSupermicroSlots, .refuses_flags = true, .eject_only_if_inserted = true},
    .accounts = {.admin_slot = 2, .shortest = 8, .longest = 20, .classes = 3, .lockout = 3},
    .bios = {.needs_licence = true},
    .locator = {.active = true},
    .connection = {.after_restart = VirtualTime{20}},
    .writes_z = true,
};

constexpr VendorBehavior kAmi{
    .vendor = "ami",
    .names = {.root_vendor = "AMI",
              .product = "AMI Redfish Server",
              .oem = "Ami",
              .oem_root = "#AMIServiceRoot.v1_0_0.AMIServiceRoot",
              .manufacturer = "GIGABYTE",
              .model = "G593-SD0",
              .bmc_model = "410810600",
              .bmc_version = "12.84.13",
              .server = "AMI MegaRAC Redfish Service",
              .redfish = "1.7.0"},
    .layout = {.system = "Self",
               .manager = "Self",
               .chassis = "Self",
               .boot_settings = "SD",
               .form_beside_system = true,
               .boot_is_in_settings = true,
               .bios_settings = "SD",
               .log = "SEL",
               .sensors = SensorStyle::legacy,
               .fan = "FAN{}",
               .cpu = "{}",
               .dimm = "{}",
               .nic = "NIC{}"},
    .tags = {.form = TagForm::weak, .rule = TagRule::silent, .weak_refused = true},
    .power = {.resets = kAmiResets, .inline_words = false, .action_info = true},
    .boot = {.enabled = kAllEnabled, .targets = kAmiTargets, .only_in_settings = true},
    .media = {.slots = kAmiSlots,
              .wants_protocol = true,
              .stale = VirtualTime{20},
              .empty = "None"},
    .accounts = {.shortest = 8, .longest = 25, .classes = 2, .lockout = 5},
    .bios = {.reset_word = "Reset", .tells_reset_word = true},
    .locator = {.tells_words = true},
    .connection = {.after_restart = VirtualTime{30},
                   .html_when_busy = true,
                   .expand_drops = true,
                   .expand_levels = 5},
};

constexpr VendorBehavior kOpenbmc{
    .vendor = "openbmc",
    .names = {.root_vendor = "NVIDIA",
              .product = "GB200 NVL",
              .manufacturer = "NVIDIA",
              .model = "GB200 NVL",
              .bmc_model = "OpenBmc",
              .bmc_version = "GB200Nvl-24.12-8",
              .redfish = "1.17.0",
              .system_is_nameless = true},
    .layout = {.system = "System_0",
               .manager = "BMC_0",
               .chassis = "Chassis_0",
               .system_of_gpus = "HGX_Baseboard_0",
               .boot_settings = "Settings",
               .boot_is_in_settings = true,
               .bios_registry = false,
               .log_of_manager = false,
               .log = "SEL",
               .sse = "/redfish/v1/EventService/SSE",
               .sensors = SensorStyle::modern,
               .liquid = true,
               .first = 0,
               .psu = "PDB_{}",
               .fan = "Chassis_0_FAN_{}",
               .cpu = "CPU_{}",
               .dimm = "Memory_{}",
               .nic = "CX7_{}"},
    .tags = {.form = TagForm::none, .in_body = false, .rule = TagRule::ignored},
    .power = {.resets = kOpenbmcResets,
              .inline_words = false,
              .action_info = true,
              .lag = VirtualTime{4},
              .ac = {"Chassis/Chassis_0/Actions/Oem/NvidiaChassis.AuxPowerReset",
                     "#NvidiaChassis.AuxPowerReset", "AuxPowerCycle"},
              .bmc_reset = "GracefulRestart"},
    .boot = {.enabled = kAllEnabled, .targets = kOpenbmcTargets, .mode = false},
    .media = {.slots = kOpenbmcSlots, .empty = "-"},
    .accounts = {.id_is_name = true, .shortest = 8, .longest = 20, .classes = 2},
    .locator = {.active = true},
    .connection = {.sessions = 64, .after_restart = VirtualTime{10}, .expand_levels = 6},
    .ntp_guards_clock = true,
};

constexpr std::array kRows{kDgx, kDell, kIlo6, ilo5(), kLenovo, kSupermicro, kAmi, kOpenbmc};

}  // namespace

std::span<const VendorBehavior> all_vendor_behaviors() { return kRows; }

const VendorBehavior* vendor_behavior_of(std::string_view vendor) {
  const auto row = std::ranges::find(kRows, vendor, &VendorBehavior::vendor);
  return row == kRows.end() ? nullptr : &*row;
}

const VendorBehavior& default_behavior() { return kRows.front(); }

}  // namespace cupel::rehearsal
