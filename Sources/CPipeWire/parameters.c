#include "stream.h"

#include <spa/param/buffers.h>
#include <spa/pod/builder.h>

/// The names of spa_video_format: the order of bytes in memory.
static const struct {
    uint32_t format;
    enum upcast_pipewire_format order;
} formats[] = {
    {SPA_VIDEO_FORMAT_BGRx, UPCAST_PIPEWIRE_BGRX}, {SPA_VIDEO_FORMAT_BGRA, UPCAST_PIPEWIRE_BGRX},
    {SPA_VIDEO_FORMAT_RGBx, UPCAST_PIPEWIRE_RGBX}, {SPA_VIDEO_FORMAT_RGBA, UPCAST_PIPEWIRE_RGBX},
    {SPA_VIDEO_FORMAT_xRGB, UPCAST_PIPEWIRE_XRGB}, {SPA_VIDEO_FORMAT_ARGB, UPCAST_PIPEWIRE_XRGB},
    {SPA_VIDEO_FORMAT_xBGR, UPCAST_PIPEWIRE_XBGR}, {SPA_VIDEO_FORMAT_ABGR, UPCAST_PIPEWIRE_XBGR},
};
enum { FORMATS = sizeof formats / sizeof formats[0] };

enum upcast_pipewire_format upcast_pipewire_format_of(uint32_t format) {
    for (int i = 0; i < FORMATS; i++)
        if (formats[i].format == format) return formats[i].order;
    return UPCAST_PIPEWIRE_NO_FORMAT;
}

const struct spa_pod *upcast_pipewire_formats(struct spa_pod_builder *b, uint32_t rate, uint32_t rate_divisor) {
    struct spa_pod_frame object, choice;
    spa_pod_builder_push_object(b, &object, SPA_TYPE_OBJECT_Format, SPA_PARAM_EnumFormat);
    spa_pod_builder_add(
        b, SPA_FORMAT_mediaType, SPA_POD_Id(SPA_MEDIA_TYPE_video), SPA_FORMAT_mediaSubtype,
        SPA_POD_Id(SPA_MEDIA_SUBTYPE_raw), 0);
    spa_pod_builder_prop(b, SPA_FORMAT_VIDEO_format, 0);
    spa_pod_builder_push_choice(b, &choice, SPA_CHOICE_Enum, 0);
    // The first value is the default. It must also be in the list.
    spa_pod_builder_id(b, formats[0].format);
    for (int i = 0; i < FORMATS; i++) spa_pod_builder_id(b, formats[i].format);
    spa_pod_builder_pop(b, &choice);
    // Formats have no modifiers, so that the sender gives memory that can be read.
    const struct spa_rectangle size = SPA_RECTANGLE(1920, 1080), least = SPA_RECTANGLE(1, 1),
                               most = SPA_RECTANGLE(16384, 16384);
    // A rate of 0 varies: pictures come with changes.
    const struct spa_fraction any = SPA_FRACTION(0, 1), highest = SPA_FRACTION(1000, 1), one = SPA_FRACTION(1, 1),
                              wanted = SPA_FRACTION(rate, rate_divisor);
    spa_pod_builder_add(
        b, SPA_FORMAT_VIDEO_size, SPA_POD_CHOICE_RANGE_Rectangle(&size, &least, &most), SPA_FORMAT_VIDEO_framerate,
        SPA_POD_CHOICE_RANGE_Fraction(&any, &any, &highest), SPA_FORMAT_VIDEO_maxFramerate,
        SPA_POD_CHOICE_RANGE_Fraction(&wanted, &one, &wanted), 0);
    return spa_pod_builder_pop(b, &object);
}

static const struct spa_pod *meta(struct spa_pod_builder *b, uint32_t type, int32_t size) {
    return spa_pod_builder_add_object(
        b, SPA_TYPE_OBJECT_ParamMeta, SPA_PARAM_Meta, SPA_PARAM_META_type, SPA_POD_Id(type), SPA_PARAM_META_size,
        SPA_POD_Int(size));
}

static const struct spa_pod *meta_up_to(
    struct spa_pod_builder *b, uint32_t type, int32_t size, int32_t least, int32_t most) {
    return spa_pod_builder_add_object(
        b, SPA_TYPE_OBJECT_ParamMeta, SPA_PARAM_Meta, SPA_PARAM_META_type, SPA_POD_Id(type), SPA_PARAM_META_size,
        SPA_POD_CHOICE_RANGE_Int(size, least, most));
}

static int32_t pointer_bytes(int32_t side) {
    return (int32_t)(sizeof(struct spa_meta_cursor) + sizeof(struct spa_meta_bitmap)) + side * side * 4;
}

uint32_t upcast_pipewire_buffers(
    struct spa_pod_builder *b, bool has_pointer, const struct spa_pod *parameters[UPCAST_PIPEWIRE_MAX_PARAMETERS]) {
    uint32_t count = 0;
    // One buffer is in hand while others are filled. mutter and KWin offer as many.
    parameters[count++] = spa_pod_builder_add_object(
        b, SPA_TYPE_OBJECT_ParamBuffers, SPA_PARAM_Buffers, SPA_PARAM_BUFFERS_buffers, SPA_POD_CHOICE_RANGE_Int(16, 2, 32),
        SPA_PARAM_BUFFERS_dataType, SPA_POD_CHOICE_FLAGS_Int((1 << SPA_DATA_MemPtr) | (1 << SPA_DATA_MemFd)));
    parameters[count++] = meta(b, SPA_META_Header, sizeof(struct spa_meta_header));
    parameters[count++] = meta(b, SPA_META_VideoCrop, sizeof(struct spa_meta_region));
    parameters[count++] = meta(b, SPA_META_VideoTransform, sizeof(struct spa_meta_videotransform));
    const int32_t region = sizeof(struct spa_meta_region);
    parameters[count++] = meta_up_to(b, SPA_META_VideoDamage, region * 16, region, region * 16);
    if (has_pointer)
        parameters[count++] =
            meta_up_to(b, SPA_META_Cursor, pointer_bytes(64), pointer_bytes(1), pointer_bytes(1024));
    return count;
}
