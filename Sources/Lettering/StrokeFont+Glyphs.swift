extension StrokeFont {
    /// A character, then its strokes. A stroke is a row of points, each a column and a row in base 36. The baseline is
    /// at 5; small letters reach to f, capitals to j, tails to 0. `~` before a stroke makes a curve from the first
    /// point to the last one, and `o` makes a closed curve. Both only bend towards the other points. A stroke of one
    /// point is a dot.
    static let drawn = #"""
        A 055ja5 2a8a
        B 050j ~0j4j9j9c4c0c ~0c5caca55505
        C ~agaj0j05a5a8
        D 050j ~0j2jaja52505
        E 9j0j0595 0c8c
        F 9j0j05 0c8c
        G ~agaj0j05a5ab ab6b
        H 050j aja5 0cac
        I 0j6j 3j35 0565
        J ~7j7d750509
        K 050j 9j0a 3da5
        L 0j0595
        M 050j69cjc5
        N 050ja5aj
        O o050jbjb5
        P 050j ~0j4jajab4b0b
        Q o050jbjb5 79b4
        R 050j ~0j4jajab4b0b 5ba5
        S ~9g9j0j0c9c950508
        T 0jaj 5j55
        U ~0j0c05a5acaj
        V 0j55aj
        W 0j457ga5ej
        X 05aj 0ja5
        Y 0j5caj 5c55
        Z 0jaj05a5
        a ~858a8f1f1d ~8b4b0b055587
        b 050j o050f8f85
        c ~8d8f0f058587
        d 858j o050f8f85
        e 0a8a ~8a8f0f058587
        f ~6j2j2f25 0f5f
        g o050f8f85 ~8f87800002
        h 050j ~0a0f8f8a85
        i 050f 0j
        j ~3f383000 3j
        k 050j 7f09 3b85
        l ~0j0a0535
        m 050f ~0a0f6f6a65 ~6a6fcfcac5
        n 050f ~0a0f8f8a85
        o o050f9f95
        p 000f o050f8f85
        q 808f o050f8f85
        r 050f ~0a0f5f
        s ~7d7f0f0a7a750507
        t ~2j2a2565 0f5f
        u ~0f0a05858a8f 8f85
        v 0f458f
        w 0f356d95cf
        x 058f 0f85
        y 0f45 8f20
        z 0f8f0585
        0 o050j9j95
        1 0g4j45
        2 ~0g0j9j9d05 0595
        3 ~0h0j8j8c4c ~4c9c950508
        4 757j09a9
        5 8j1j0c ~0c2e9e950507
        6 ~8j3j0f09 o050d9d95
        7 0j9j35
        8 o1c1j8j8c o050c9c95
        9 ~1565999f o0b0j9j9b
        ! 0j0a 05
        " 0j0f 3j3f
        # 253j 758j 0aaa 0eae
        $ ~9g9j0j0c9c950508 5m52
        % o0d0j5j5d o656bbbb5 15aj
        & ~a52e2j7j7f0b0575ab
        ' 0j0f
        ( ~4k0i0642
        ) ~0k4i4602
        * 3j3d 0i6e 0e6i
        + 0b8b 4f47
        , 1502
        - 0b5b
        . 05
        / 037k
        : 05 0e
        ; 1502 1e
        < 8g0b86
        = 0d8d 0989
        > 0g8b06
        ? ~0g0j8j8d4d49 45
        @ ~a3030jdjd8989f o484f9f98
        [ 4k0k0343
        \ 0k73
        ] 0k4k4303
        ^ 0f4j8f
        _ 0393
        ` 0j3g
        { ~5k2k2b0b ~0b2b2353
        | 0l02
        } ~0k3k3b5b ~5b3b3303
        ~ ~0a2e689c
        ¡ 0a01 0f
        ¢ ~8d8f0f058587 4h43
        £ ~9g9j2j2c25 0595 0c7c
        ¤ o373d9d97 1537 b597 1f3d bf9d
        ¥ 0j5caj 5c55 1a9a 1797
        ¦ 0l0d 0902
        § ~8h8j0j0e8c87 ~050383880a0f
        ¨ 0i 6i
        © o040kfkf4 ~aeag5g58a8aa
        ª o0d0j5j5d 5j5d 0a5a
        « 4g0b46 9g5b96
        ¬ 0c8c88
        ® o040kfkf4 585g ~5g7gagac7c5c 8ca8
        ¯ 0j5j
        ° o0e0j5j5e
        ± 0d8d 4h49 0585
        ² ~0h0j5j5f0b 0b5b
        ³ ~0j3j5j5f2f ~2f5f5b0b
        ´ 0g3j
        µ 000f ~0f0a05858a8f 8f85
        ¶ ~5j0j0b5b 8j5j55 8j85
        · 0b
        ¸ ~25433000
        ¹ 0h2j2b
        º o0d0j5j5d 0a5a
        » 0g4b06 5g9b56
        ¼ 0h2j2b 15bj d5dd87e7
        ½ 0h2j2b 15bj ~8b8dddda85 85d5
        ¾ ~0j3j5j5f2f ~2f5f5b0b 25cj e5ee97f7
        ¿ ~84810107474b 4f
        × 0f87 078f
        ÷ 0b8b 4f 47
        Æ 058jfj 8j85f5 3a8a 8cec
        æ ~8a8f1f1d ~8b4b0b055587 8aga ~gagf8f85g5g7
        Ð 252j ~2j4jcjc54525 0c6c
        Đ 252j ~2j4jcjc54525 0c6c
        ð o050e8e85 ~898g2k 3h8k
        đ 858j o050f8f85 5hbh
        Ø o050jbjb5 04bk
        ø o050f9f95 049g
        Þ 050j ~0g4gaga84808
        þ 000j o050f8f85
        ß ~050c0j7j7c4c ~4c9c955535
        ẞ ~050c0j9j4c ~4caca54525
        Œ o050jaja5 hjaja5h5 acgc
        œ o050f8f85 8aga ~gagf8f85g5g7
        ı 050f
        Ł 2j25b5 0a7e
        ł ~2j2a2555 0b5e
        ď 858j o050f8f85 cjbg
        ť ~2j2a2565 0f5f 7k6h
        ľ ~0j0a0535 4j3g
        € ~cgcj2j25c5c8 0d9d 0a9a
        – 0b8b
        — 0bdb
        ‘ 0j1f
        ’ 1j0f
        ‚ 1502
        “ 0j1f 4j5f
        ” 1j0f 5j4f
        „ 1502 5542
        … 05 55 a5
        • o090e5e59 o1a1d4d4a o2b2c3c3b
        ← cb0b 4f0b47
        → 0bcb 8fcb87
        """#

    /// A mark over (or under) a letter of eight columns that reaches to f, with its strokes joined by `+`. Then the
    /// letters with this mark, each before the letter that carries it.
    static let marked = """
        2l5i ÀA ÈE ÌI ÒO ÙU àa èe ìı òo ùu ẀW ẁw
        6l3i ÁA ÉE ÍI ÓO ÚU ÝY áa ée íı óo úu ýy ĆC ćc ŃN ńn ŚS śs ŹZ źz ĹL ŔR ŕr
        1i4l7i ÂA ÊE ÎI ÔO ÛU âa êe îı ôo ûu ŴW ŵw ŶY ŷy ĈC ĉc ĜG ĝg ŜS ŝs
        ~0i2m6h8l ÃA ÑN ÕO ãa ñn õo ĨI ĩı ŨU ũu
        1j+7j ÄA ËE ÏI ÖO ÜU ŸY äa ëe ïı öo üu ÿy
        o2i2m6m6i ÅA åa ŮU ůu
        1l4i7l ČC čc ĎD ĚE ěe ŇN ňn ŘR řr ŠS šs ŤT ŽZ žz
        0j8j ĀA āa ĒE ēe ĪI īı ŌO ōo ŪU ūu
        ~1l1h7h7l ĂA ăa ĞG ğg ŬU ŭu
        4j İI ŻZ żz ĖE ėe ĠG ġg ĊC ċc
        3l1i+8l6i ŐO őo ŰU űu
        ~45635020 ÇC çc ŞS şs ŢT ţt
        ~45225070 ĄA ąa ĘE ęe ĮI įi ŲU ųu
        """
}
