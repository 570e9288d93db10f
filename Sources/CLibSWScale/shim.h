#pragma once
#include <libswscale/swscale.h>
#include <libavutil/pixfmt.h>

// sws_scale() for pictures of one plane: it reads four pointers and four strides whatever the format, which is
// awkward to build in Swift for every band.
static inline int upcast_sws_scale_plane(
    struct SwsContext *context, const uint8_t *source, int sourceStride, int firstRow, int rowCount,
    uint8_t *destination, int destinationStride)
{
    const uint8_t *const sources[4] = {source, 0, 0, 0};
    const int sourceStrides[4] = {sourceStride, 0, 0, 0};
    uint8_t *const destinations[4] = {destination, 0, 0, 0};
    const int destinationStrides[4] = {destinationStride, 0, 0, 0};
    return sws_scale(context, sources, sourceStrides, firstRow, rowCount, destinations, destinationStrides);
}
