#include <array>

#include "burnin/measures/tables.h"

namespace cupel::burnin {
namespace {

constexpr std::array kLogMeasures{
    MeasureRow{"kernel.gpu", "count", "GPUs that the driver lost or could not start while watched",
               Better::less},
    MeasureRow{"kernel.gpu.reset", "count", "GPUs that the driver refused until they are reset",
               Better::less},
    MeasureRow{"kernel.mce", "count", "machine checks while watched", Better::less},
    MeasureRow{"kernel.edac.uncorrected", "count",
               "messages of uncorrected memory errors while watched", Better::less},
    MeasureRow{"kernel.edac.corrected", "count",
               "messages of corrected memory errors while watched", Better::less},
    MeasureRow{"kernel.aer.uncorrected", "count",
               "messages of uncorrectable PCIe errors while watched", Better::less},
    MeasureRow{"kernel.aer.corrected", "count", "messages of correctable PCIe errors while watched",
               Better::less},
    MeasureRow{"kernel.pcie", "count", "other PCIe errors while watched", Better::less},
    MeasureRow{"kernel.nvme", "count", "errors of NVMe drives while watched", Better::less},
    MeasureRow{
        "kernel.disk", "count",
        "I/O errors of other drives, arrays, RAID controllers and file systems while watched",
        Better::less},
    MeasureRow{"kernel.mlx5", "count", "errors of the HCAs' driver while watched", Better::less},
    MeasureRow{"kernel.link", "count", "network links that went down while watched", Better::less},
    MeasureRow{"kernel.oom", "count", "processes killed for want of memory while watched",
               Better::less, true},
    MeasureRow{"kernel.hang", "count",
               "hung tasks, lockups and failures of the kernel itself while watched", Better::less},
    MeasureRow{"kernel.net", "count", "network cards that hung while watched", Better::less},
    MeasureRow{"kernel.iommu", "count", "accesses that the IOMMU refused while watched",
               Better::less},
    MeasureRow{"kernel.nmi", "count", "hardware errors reported by NMI while watched",
               Better::less},
    MeasureRow{"kernel.thermal", "count", "messages of thermal throttling while watched",
               Better::less},
    MeasureRow{"kernel.xid", "", "Xid while watched; 0: none", Better::less},
    MeasureRow{"kernel.xid.count", "count", "Xids of any weight while watched", Better::less},
    MeasureRow{"kernel.sxid", "", "SXid while watched; 0: none", Better::less},
    MeasureRow{"kernel.sxid.count", "count", "SXids of any weight while watched", Better::less},
    MeasureRow{"first.kernel.*", "s",
               "when the first such message of the part came: since the boot, or since the watch "
               "began"},
    MeasureRow{"first.kernel.*.*", "s",
               "the same of messages with a weight or a code: `first.kernel.xid.79`"},
    MeasureRow{"first.gpu.throttle.*", "s",
               "when the clock was first held back for that reason, since the watch began"},
    MeasureRow{"node.restarted", "",
               "1: the node restarted, and no step of the run had restarted it", Better::less,
               false, true},
    MeasureRow{"kernel_log.complete", "",
               "1: the kernel's log was read from before the stage to its end", Better::more, true},
    MeasureRow{"watch.cpu", "%", "of one CPU that watching took", Better::less},
    MeasureRow{"sel.new.critical", "count", "new critical entries of the BMC's log", Better::less},
    MeasureRow{"sel.new.warning", "count", "new warnings of the BMC's log", Better::less},
    MeasureRow{"sel.new.other", "count", "new entries of the BMC's log that no rule knows"},
    MeasureRow{"sel.new.harmless", "count",
               "new entries of the BMC's log that are known to be harmless"},
};

}  // namespace

std::span<const MeasureRow> log_measure_rows() { return kLogMeasures; }

}  // namespace cupel::burnin
